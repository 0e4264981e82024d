// Warnings on their way to people: headers of the form `299 - "text"`, each text once, and not more than a client can
// be expected to take.

const MAX_RUNES = 4096
/** When there is too much to say, this is how much of each text is said. */
const MAX_ITEM_RUNES = 256

export function warningHeaders(texts: readonly string[]): string[] {
  const once = [...new Set(texts)].filter(isSayable)
  const total = once.reduce((sum, text) => sum + Array.from(text).length, 0)
  if (total <= MAX_RUNES) return once.map(warningHeader)
  const given: string[] = []
  let runes = 0
  for (const text of once) {
    if (runes >= MAX_RUNES) break
    const cut = Array.from(text).slice(0, MAX_ITEM_RUNES)
    runes += cut.length
    given.push(warningHeader(cut.join('')))
  }
  return given
}

// oxlint-disable-next-line no-control-regex
const isSayable = (text: string): boolean => text !== '' && !/[\u0000-\u001f\u007f]/.test(text)

/** Headers are bytes to Node, one for each character: texts go out in UTF-8. */
function warningHeader(text: string): string {
  const header = `299 - "${text.replace(/["\\]/g, '\\$&')}"`
  return Buffer.from(header, 'utf8').toString('latin1')
}
