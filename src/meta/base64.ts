// Base64 as Go checks it: the standard alphabet, padded, line breaks passed over.

/** Why a text is no base64, in the words of Go's decoder; undefined when it is. */
export function base64Fault(text: string): string | undefined {
  const at = corruptByte(text)
  return at === undefined ? undefined : `illegal base64 data at input byte ${at}`
}

/** The first byte that does not fit. Characters come in fours; the last four may end in one or two `=`. */
function corruptByte(text: string): number | undefined {
  let inGroup = 0
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (isLineBreak(character)) continue
    if (character === '=') return paddingFault(text, i, inGroup)
    if (!/[A-Za-z0-9+/]/.test(character)) return Buffer.byteLength(text.slice(0, i))
    inGroup = (inGroup + 1) % 4
  }
  return inGroup === 0 ? undefined : text.length - inGroup
}

function paddingFault(text: string, at: number, inGroup: number): number | undefined {
  if (inGroup < 2) return at
  let next = afterLineBreaks(text, at + 1)
  if (inGroup === 2) {
    if (next === text.length) return text.length
    if (text[next] !== '=') return next - 1
    next = afterLineBreaks(text, next + 1)
  }
  return next < text.length ? next : undefined
}

function afterLineBreaks(text: string, from: number): number {
  let at = from
  while (at < text.length && isLineBreak(text[at]!)) at++
  return at
}

const isLineBreak = (character: string): boolean => character === '\n' || character === '\r'
