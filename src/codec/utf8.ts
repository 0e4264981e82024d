// UTF-8 as Go decodes it: each byte that is not part of a valid sequence becomes U+FFFD.
import { Buffer, isUtf8 } from 'node:buffer'

/** Decodes UTF-8 bytes, with U+FFFD for every single byte that is not part of a valid sequence. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return asBuffer(bytes).toString('utf8')
  let text = ''
  let valid = 0
  for (let at = 0; at < bytes.length; ) {
    const width = sequenceLength(bytes, at)
    if (width === 0) {
      text += `${asBuffer(bytes.subarray(valid, at)).toString('utf8')}\ufffd`
      valid = ++at
    } else at += width
  }
  return text + asBuffer(bytes.subarray(valid)).toString('utf8')
}

/** The byte offset of the character at an index of the decoded text. */
export function byteOffset(bytes: Uint8Array, index: number): number {
  let at = 0
  for (let units = 0; units < index && at < bytes.length; ) {
    const width = sequenceLength(bytes, at)
    units += width === 4 ? 2 : 1
    at += width || 1
  }
  return at
}

/** The length of the valid UTF-8 sequence at an offset; 0 if there is none. */
export function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return 1
  const width =
    first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0
  if (width === 0 || at + width > bytes.length) return 0
  const second = bytes[at + 1]!
  // The range of the second byte excludes overlong forms, surrogates and code points beyond U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < low || second > high) return 0
  for (let i = 2; i < width; i++) if ((bytes[at + i]! & 0xc0) !== 0x80) return 0
  return width
}

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
