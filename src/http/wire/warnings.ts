// Warning headers: `299 - "text"`, each text once, and truncated as kube-apiserver does if there is too much.

const MAX_RUNES = 4096
/** The length of each text if all together are too long. */
const MAX_ITEM_RUNES = 256

export function warningHeaders(texts: readonly string[]): string[] {
  const once = [...new Set(texts)].filter(isPrintable)
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
const isPrintable = (text: string): boolean => text !== '' && !/[\u0000-\u001f\u007f]/.test(text)

/** Node writes headers as Latin-1, so that the bytes of UTF-8 are passed as characters. */
function warningHeader(text: string): string {
  const header = `299 - "${text.replace(/["\\]/g, '\\$&')}"`
  return Buffer.from(header, 'utf8').toString('latin1')
}
