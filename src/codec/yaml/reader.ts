// Converts bytes to the text for the YAML scanner: encodings, byte order marks, and characters that YAML 1.1 does not
// allow.
import { Buffer, isUtf8 } from 'node:buffer'
import type { CodecError } from '../codec-error.js'
import { asBuffer } from '../utf8.js'
import { yamlError } from './cursor.js'

export interface YamlText {
  text: string
  /** If set, the text is incomplete: the scanner throws this error when it reaches the end. */
  error?: CodecError
}

const BAD_CHARACTER = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

/** Kubernetes' reader reads blocks of this size, and fails on the whole block that contains an invalid character. */
const BLOCK = 512

export function readYamlText(bytes: Uint8Array): YamlText {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return checkCharacters(asBuffer(bytes.subarray(2)).toString('utf16le'))
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    const even = bytes.subarray(2, bytes.length - (bytes.length % 2))
    return checkCharacters(Buffer.from(even).swap16().toString('utf16le'))
  }
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  if (isUtf8(bytes)) return checkCharacters(asBuffer(bytes.subarray(start)).toString('utf8'), start)
  const { at, problem } = findBadSequence(bytes, start)
  const before = asBuffer(bytes.subarray(start, at)).toString('utf8')
  const checked = checkCharacters(before, start)
  return checked.error ? checked : cut(before, start, at, problem)
}

function checkCharacters(text: string, start = 0): YamlText {
  const index = text.search(BAD_CHARACTER)
  if (index === -1) return { text }
  const before = text.slice(0, index)
  return cut(before, start, start + Buffer.byteLength(before), 'control characters are not allowed')
}

/** The text before the block with the invalid byte. */
function cut(before: string, start: number, badByte: number, problem: string): YamlText {
  const blockStart = badByte - (badByte % BLOCK)
  const text = Buffer.from(before)
    .subarray(0, Math.max(0, blockStart - start))
    .toString('utf8')
  return { text, error: yamlError(problem) }
}

function findBadSequence(bytes: Uint8Array, start: number): { at: number; problem: string } {
  for (let at = start; ; ) {
    const first = bytes[at]!
    const width = first < 0x80 ? 1 : first >> 5 === 6 ? 2 : first >> 4 === 14 ? 3 : first >> 3 === 30 ? 4 : 0
    if (width === 0) return { at, problem: 'invalid leading UTF-8 octet' }
    if (at + width > bytes.length) return { at, problem: 'incomplete UTF-8 octet sequence' }
    let code = width === 1 ? first : first & (0x7f >> width)
    for (let i = 1; i < width; i++) {
      const octet = bytes[at + i]!
      if (octet >> 6 !== 2) return { at, problem: 'invalid trailing UTF-8 octet' }
      code = (code << 6) | (octet & 0x3f)
    }
    if (code < [0, 0, 0x80, 0x800, 0x10000][width]!) return { at, problem: 'invalid length of a UTF-8 sequence' }
    if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return { at, problem: 'invalid Unicode character' }
    at += width
  }
}
