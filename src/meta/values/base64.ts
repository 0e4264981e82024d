// Base64 as Go's encoding/base64 reads it: the standard alphabet with padding, line breaks between, errors by byte.
import { failed, parsed, type Result } from '../../base/result.js'

/** Why a text is no base64, in the words of Go's decoder; undefined when it is. */
export function base64Error(text: string): string | undefined {
  const result = canonicalBase64(text)
  return result.ok ? undefined : result.error
}

/** The same bytes in their one spelling, which is how they are stored and printed. */
export function canonicalBase64(text: string): Result<string> {
  let inGroup = 0
  let lineBreaks = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 128 && ALPHABET[code] === 1) inGroup = (inGroup + 1) & 3
    else if (code === LINE_FEED || code === CARRIAGE_RETURN) lineBreaks = true
    else if (code === PADDING) return padded(text, i, inGroup)
    // Everything before is ASCII, so that the index is the byte.
    else return corrupt(i)
  }
  if (inGroup !== 0) return corrupt(text.length - inGroup)
  return parsed(lineBreaks ? text.replaceAll(/[\r\n]/g, '') : text)
}

/** What may come with the padding: one more sign if the group lacks two, line breaks, and nothing else. */
function padded(text: string, at: number, inGroup: number): Result<string> {
  if (inGroup < 2) return corrupt(at)
  let next = skipLineBreaks(text, at + 1)
  if (inGroup === 2) {
    if (next === text.length) return corrupt(next)
    if (text.charCodeAt(next) !== PADDING) return corrupt(next - 1)
    next = skipLineBreaks(text, next + 1)
  }
  if (next < text.length) return corrupt(next)
  // Bits behind the last byte may be set; they do not count.
  return parsed(Buffer.from(text, 'base64').toString('base64'))
}

function skipLineBreaks(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) === LINE_FEED || text.charCodeAt(at) === CARRIAGE_RETURN) at++
  return at
}

const corrupt = (byte: number): Result<never> => failed(`illegal base64 data at input byte ${byte}`)

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const PADDING = 0x3d

const ALPHABET = new Uint8Array(128)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  ALPHABET[character.charCodeAt(0)] = 1
}
