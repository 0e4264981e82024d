// What a literal in the source stands for: numbers with their bounds, strings and bytes with their escapes.
import { Double, type Int, intOf, MAX_INT, MAX_UINT, MIN_INT, Uint } from '../values/numbers.js'

export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string }

const read = <T>(value: T): Read<T> => ({ ok: true, value })
const unreadable = (error: string): Read<never> => ({ ok: false, error })

export function readInt(text: string, negative: boolean): Read<Int> {
  // A bound on the digits keeps the cost of reading small, whatever a user sends.
  if (text.length > 40 && !/^0[xX]?0*.{0,20}$/.test(text)) return unreadable('invalid int literal')
  const size = BigInt(text)
  const value = negative ? -size : size
  return value > MAX_INT || value < MIN_INT ? unreadable('invalid int literal') : read(intOf(value))
}

/** The text ends in `u` or `U`. */
export function readUint(text: string): Read<Uint> {
  const digits = text.slice(0, -1)
  if (digits.length > 40 && !/^0[xX]?0*.{0,20}$/.test(digits)) return unreadable('invalid uint literal')
  const value = BigInt(digits)
  return value > MAX_UINT ? unreadable('invalid uint literal') : read(new Uint(value))
}

export function readDouble(text: string): Read<Double> {
  const value = Number(text)
  return Number.isFinite(value) ? read(new Double(value)) : unreadable('invalid double literal')
}

/** Reads a string literal with its quotes and prefix. */
export function readString(literal: string): Read<string> {
  const { body, raw } = unquote(literal)
  if (raw || !body.includes('\\')) return read(body)
  let text = ''
  for (const part of escapes(body)) {
    if (typeof part === 'string') text += part
    else if (part.code === undefined) return unreadable('unable to unescape string')
    // Half a surrogate pair is no code point, and none lies beyond U+10FFFF.
    else if (part.code > 0x10ffff || (part.code >= 0xd800 && part.code < 0xe000)) {
      return unreadable('invalid unicode code point')
    } else text += String.fromCodePoint(part.code)
  }
  return read(text)
}

/** Reads a bytes literal: characters stand for their UTF-8, `\x` and octal escapes for one byte. */
export function readBytes(literal: string): Read<Uint8Array> {
  const { body, raw } = unquote(literal.slice(1))
  if (raw || !body.includes('\\')) return read(new TextEncoder().encode(body))
  const bytes: number[] = []
  for (const part of escapes(body)) {
    // Not as arguments of one call, of which there may be too many.
    if (typeof part === 'string') for (const byte of new TextEncoder().encode(part)) bytes.push(byte)
    else if (part.code === undefined || part.unicode) return unreadable('unable to unescape string')
    else bytes.push(part.code)
  }
  return read(Uint8Array.from(bytes))
}

/** The text between the quotes; a line break of any system is a line feed. */
function unquote(literal: string): { body: string; raw: boolean } {
  const raw = /^[rR]/.test(literal)
  const quoted = raw ? literal.slice(1) : literal
  const width = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''")) ? 3 : 1
  return { body: quoted.slice(width, -width).replace(/\r\n?/g, '\n'), raw }
}

interface Escape {
  readonly code: number | undefined
  readonly unicode: boolean
}

const SIMPLE: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['b', 8],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
  ['\\', 92],
  ["'", 39],
  ['"', 34],
  ['`', 96],
  ['?', 63],
])

function* escapes(body: string): Generator<string | Escape> {
  for (const [part = ''] of body.matchAll(
    /[^\\]+|\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|[\s\S]|$)/g,
  )) {
    if (!part.startsWith('\\')) yield part
    else {
      const letter = part[1] ?? ''
      if (part.length === 2) yield { code: SIMPLE.get(letter), unicode: false }
      else if (/[0-3]/.test(letter)) yield { code: Number.parseInt(part.slice(1), 8), unicode: false }
      else yield { code: Number.parseInt(part.slice(2), 16), unicode: letter === 'u' || letter === 'U' }
    }
  }
}
