// Base64 as Go's encoding/base64 decodes it: standard alphabet with padding, line breaks allowed, errors by byte.
import { failed, parsed, type Result } from '../../base/result.js'

/** The error of Go's decoder for a text; undefined if it is valid. */
export function base64Error(text: string): string | undefined {
  const result = canonicalBase64(text)
  return result.ok ? undefined : result.error
}

/** The canonical encoding of the same bytes, which is stored and printed. */
export function canonicalBase64(text: string): Result<string> {
  let inGroup = 0
  let lineBreaks = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 128 && ALPHABET[code] === 1) inGroup = (inGroup + 1) & 3
    else if (code === LINE_FEED || code === CARRIAGE_RETURN) lineBreaks = true
    else if (code === PADDING) return padded(text, i, inGroup)
    // Everything before is ASCII, so the index is the byte offset.
    else return corrupt(i)
  }
  if (inGroup !== 0) return corrupt(text.length - inGroup)
  return parsed(lineBreaks ? text.replaceAll(/[\r\n]/g, '') : text)
}

/** Checks the padding: one more `=` if two characters are missing, line breaks, and nothing else. */
function padded(text: string, at: number, inGroup: number): Result<string> {
  if (inGroup < 2) return corrupt(at)
  let next = skipLineBreaks(text, at + 1)
  if (inGroup === 2) {
    if (next === text.length) return corrupt(next)
    if (text.charCodeAt(next) !== PADDING) return corrupt(next - 1)
    next = skipLineBreaks(text, next + 1)
  }
  if (next < text.length) return corrupt(next)
  // Unused bits after the last byte may be set and are ignored.
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
