// Decodes JSON as the API server does: integers exact to 64 bits, every duplicate field reported, Go's error messages.
// One pass over the text with an explicit stack, so that deep nesting cannot overflow the call stack.
import { quoteRune } from '../../meta/go/go-text.js'
import { setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { CodecError } from '../codec-error.js'
import type { Decoded } from '../decoded.js'
import { byteOffset, decodeUtf8 } from '../utf8.js'
import type { InternedParts } from './interned-parts.js'

export interface JsonDecodeOptions {
  /** The maximum nesting of lists and objects; 10,000 by default, as in Go. */
  maxDepth?: number
  /** Decodes `-0` as the float, as Go prints it, instead of the integer 0. */
  floatMinusZero?: boolean
  /** Parts of the text that are shared with other texts. */
  interned?: { readonly parts: InternedParts; readonly at: InternedPosition }
}

/** The member names on the path to a part; a list on the path stands for its items. */
export interface InternedPosition {
  readonly name: string
  readonly within: readonly (string | typeof ITEMS)[]
}

export const ITEMS = Symbol('items')

/** Decodes exactly one JSON value. Throws a CodecError. */
export function decodeJson(bytes: Uint8Array, options: JsonDecodeOptions = {}): Decoded {
  const { maxDepth = MAX_DEPTH, floatMinusZero = false, interned } = options
  minusZero = floatMinusZero ? MINUS_ZERO : 0
  const text = decodeUtf8(bytes)
  try {
    return parse(text, maxDepth, interned)
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw syntaxError(error, bytes)
    throw error
  }
}

/** The value of a JSON number; undefined if a float64 cannot hold it. */
export function parseNumber(literal: string): Value | undefined {
  if (!FLOAT_MARK.test(literal)) {
    const number = Number(literal)
    if (Number.isSafeInteger(number)) return number === 0 ? 0 : number
    if (literal.length <= 20) {
      const exact = BigInt(literal)
      if (BigInt.asIntN(64, exact) === exact) return exact
    }
  }
  const number = Number(literal)
  if (!Number.isFinite(number)) return undefined
  if (!Number.isInteger(number)) return number
  const float = new WholeFloat(number)
  // A copy, because a part of a text keeps the whole text in memory.
  return float.literal === literal ? float : new WholeFloat(number, Buffer.from(literal).toString())
}

const FLOAT_MARK = /[.eE]/
const MAX_DEPTH = 10_000
/** Kubernetes reports at most this many. */
const MAX_DUPLICATES = 100

type Container = Value[] | ValueObject

// The position of a syntax error. `after` describes the context; without it the text ended too early.
class JsonSyntaxError {
  constructor(
    readonly index: number,
    readonly after?: string,
  ) {}
}

/** The contexts in which no space may follow. */
const IN_TOKEN = /numeric literal|in literal|escape/

function syntaxError({ index, after }: JsonSyntaxError, bytes: Uint8Array): CodecError {
  const offset = byteOffset(bytes, index)
  if (after === undefined || offset >= bytes.length) {
    // Go's scanner reads a space at the end, which is an error of its own within a token.
    const message = IN_TOKEN.test(after ?? '') ? `invalid character ' ' ${after}` : 'unexpected end of JSON input'
    return new CodecError('malformed', message, bytes.length)
  }
  const character = quoteRune(String.fromCharCode(bytes[offset]!)) // Go's scanner reads bytes, not characters
  return new CodecError('malformed', `invalid character ${character} ${after}`, offset + 1)
}

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The end of the last scalar: a second result of the functions that read one. */
let next = 0

const MINUS_ZERO = new WholeFloat(-0)
/** The value of `-0` in the current text. */
let minusZero: Value = 0

function parse(text: string, maxDepth: number, interning: JsonDecodeOptions['interned']): Decoded {
  const internedAt = interning?.at
  const duplicates: string[] = []
  const outer: Container[] = [] // the containers around the current one, and the key of each in its parent
  const outerKeys: string[] = []
  let container: Container | undefined
  let list: Value[] | undefined // the current container if it is a list; otherwise `object` is
  let object: ValueObject = {}
  let key = ''
  let tooLarge: string | undefined
  let value: Value
  let interned: Value | undefined
  let at = 0

  for (;;) {
    let c = text.charCodeAt(at)
    while (c <= SPACE && isSpace(c)) c = text.charCodeAt(++at)
    let opened = false
    if (c === QUOTE) {
      value = readString(text, at + 1)
      at = next
    } else if (
      key === internedAt?.name &&
      c === OPEN_OBJECT &&
      isAt(internedAt, list, outer, outerKeys) &&
      (interned = readInterned(interning!.parts, text, at)) !== undefined
    ) {
      value = interned
      at = next
    } else if (c === OPEN_OBJECT || c === OPEN_LIST) {
      if ((container === undefined ? 0 : outer.length + 1) >= maxDepth)
        throw new JsonSyntaxError(at, 'exceeded max depth')
      const opensList = c === OPEN_LIST
      const inner: Container = opensList ? [] : {}
      c = text.charCodeAt(++at)
      while (c <= SPACE && isSpace(c)) c = text.charCodeAt(++at)
      value = inner
      if (c === (opensList ? CLOSE_LIST : CLOSE_OBJECT)) at++
      else {
        if (container !== undefined) {
          outer.push(container)
          outerKeys.push(key)
        }
        container = inner
        if (opensList) list = inner as Value[]
        else {
          list = undefined
          object = inner as ValueObject
        }
        opened = true
      }
    } else if ((c >= ZERO && c <= NINE) || c === MINUS) {
      const number = readNumber(text, at, c)
      if (number === undefined) {
        tooLarge ??= text.slice(at, next)
        value = null
      } else value = number
      at = next
    } else {
      value = readLiteral(text, at, c)
      at = next
    }

    // After a value: store it, close finished containers, and find the beginning of the next value.
    for (;;) {
      if (!opened) {
        if (container === undefined) {
          finish(text, at)
          if (tooLarge !== undefined) {
            const message = `json: cannot unmarshal number ${tooLarge} into Go value of type float64`
            throw new CodecError('unacceptable', message)
          }
          return { value, duplicates }
        }
        if (list === undefined) {
          if (key === '__proto__') setOwn(object, key, value)
          else object[key] = value
        } else list.push(value)
        c = text.charCodeAt(at)
        while (c <= SPACE && isSpace(c)) c = text.charCodeAt(++at)
      }
      if (list !== undefined) {
        if (opened) break
        at++
        if (c === COMMA) break
        if (c !== CLOSE_LIST) throw new JsonSyntaxError(at - 1, 'after array element')
      } else {
        if (!opened) at++
        if (opened || c === COMMA) {
          c = text.charCodeAt(at)
          while (c <= SPACE && isSpace(c)) c = text.charCodeAt(++at)
          if (c !== QUOTE) throw new JsonSyntaxError(at, 'looking for beginning of object key string')
          key = readString(text, at + 1)
          at = next
          if (!opened && object[key] !== undefined && Object.hasOwn(object, key)) {
            report(duplicates, outer, outerKeys, key)
          }
          c = text.charCodeAt(at)
          while (c <= SPACE && isSpace(c)) c = text.charCodeAt(++at)
          if (c !== COLON) throw new JsonSyntaxError(at, 'after object key')
          at++
          break
        }
        if (c !== CLOSE_OBJECT) throw new JsonSyntaxError(at - 1, 'after object key:value pair')
      }
      value = container!
      container = outer.pop()
      if (container !== undefined) {
        key = outerKeys.pop()!
        if (Array.isArray(container)) list = container
        else {
          list = undefined
          object = container
        }
      }
      opened = false
    }
  }
}

/** Whether the next member is at the position. */
function isAt(
  { within }: InternedPosition,
  list: Value[] | undefined,
  outer: Container[],
  outerKeys: string[],
): boolean {
  if (list !== undefined || outer.length !== within.length) return false
  return within.every((step, i) => (Array.isArray(outer[i]) ? step === ITEMS : step === outerKeys[i]))
}

/** The value of the object that begins there, if it is interned. */
function readInterned(parts: InternedParts, text: string, from: number): Value | undefined {
  const part = parts.at(text, from, endOfObject)
  if (part === undefined) return undefined
  next = from + part.text.length
  return part.value
}

function endOfObject(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) at = endOfString(text, at + 1)
    else if (c === OPEN_OBJECT) depth++
    else if (c === CLOSE_OBJECT && --depth === 0) return at + 1
  }
  return text.length
}

const isSpace = (c: number): boolean => c === SPACE || c === NEWLINE || c === RETURN || c === TAB

function finish(text: string, from: number): void {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  if (at < text.length) throw new JsonSyntaxError(at, 'after top-level value')
}

function report(duplicates: string[], outer: Container[], outerKeys: string[], key: string): void {
  if (duplicates.length >= MAX_DUPLICATES) return
  let path = ''
  for (const [i, container] of outer.entries()) {
    if (Array.isArray(container)) path += `[${container.length}]`
    else path += path === '' ? outerKeys[i] : `.${outerKeys[i]}`
  }
  path += path === '' ? key : `.${key}`
  if (!duplicates.includes(path)) duplicates.push(path)
}

function readString(text: string, start: number): string {
  for (let at = start; ; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) {
      next = at + 1
      return text.slice(start, at)
    }
    if (c === BACKSLASH) return readEscapedString(text, start, at)
    if (!(c >= SPACE)) throw new JsonSyntaxError(at, 'in string literal') // also true for NaN at the end of the text
  }
}

const ESCAPES = new Set(['"', '\\', '/', 'b', 'f', 'n', 'r', 't'])

/** Uses JSON.parse, which returns a flat string: strings concatenated from many pieces are slow to read. */
function readEscapedString(text: string, start: number, firstEscape: number): string {
  const end = endOfString(text, firstEscape)
  let string: string
  try {
    string = JSON.parse(text.slice(start - 1, end + 1)) as string
  } catch {
    return errorIn(text, start)
  }
  next = end + 1
  return string.toWellFormed() // an unpaired surrogate becomes U+FFFD
}

/** The position of the closing quote. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) return at
    if (c === BACKSLASH) at++
  }
  return text.length
}

/** Throws the syntax error of an invalid string. */
function errorIn(text: string, start: number): never {
  for (let at = start; ; ) {
    const c = text.charCodeAt(at)
    if (!(c >= SPACE)) throw new JsonSyntaxError(at, 'in string literal')
    if (c !== BACKSLASH) {
      at++
      continue
    }
    if (text.charAt(at + 1) === 'u') {
      for (let i = at + 2; i < at + 6; i++) {
        if (!HEX_DIGIT.test(text.charAt(i))) throw new JsonSyntaxError(i, 'in \\u hexadecimal character escape')
      }
      at += 6
    } else {
      if (!ESCAPES.has(text.charAt(at + 1))) throw new JsonSyntaxError(at + 1, 'in string escape code')
      at += 2
    }
  }
}

const HEX_DIGIT = /^[0-9a-fA-F]$/

function readNumber(text: string, start: number, first: number): Value | undefined {
  let at = start
  let c = first
  if (c === MINUS) {
    c = text.charCodeAt(++at)
    if (!isDigit(c)) throw new JsonSyntaxError(at, 'in numeric literal')
  }
  let whole = 0
  if (c === ZERO) c = text.charCodeAt(++at)
  else {
    while (isDigit(c)) {
      whole = whole * 10 + (c - ZERO)
      c = text.charCodeAt(++at)
    }
  }
  if (c === POINT || c === 0x65 || c === 0x45) return readFloat(text, start, at, c)
  next = at
  if (at - start <= 15) return first !== MINUS ? whole : whole === 0 ? minusZero : -whole
  return parseNumber(text.slice(start, at))
}

function readFloat(text: string, start: number, from: number, mark: number): Value | undefined {
  let at = from
  let c = mark
  if (c === POINT) {
    c = text.charCodeAt(++at)
    if (!isDigit(c)) throw new JsonSyntaxError(at, 'after decimal point in numeric literal')
    while (isDigit(c)) c = text.charCodeAt(++at)
  }
  if (c === 0x65 || c === 0x45) {
    c = text.charCodeAt(++at)
    if (c === PLUS || c === MINUS) c = text.charCodeAt(++at)
    if (!isDigit(c)) throw new JsonSyntaxError(at, 'in exponent of numeric literal')
    while (isDigit(c)) c = text.charCodeAt(++at)
  }
  next = at
  return parseNumber(text.slice(start, at))
}

const isDigit = (c: number): boolean => c >= ZERO && c <= NINE

function readLiteral(text: string, start: number, first: number): Value {
  if (first === 0x74) return readWord(text, start, 'true', true)
  if (first === 0x66) return readWord(text, start, 'false', false)
  if (first === 0x6e) return readWord(text, start, 'null', null)
  throw new JsonSyntaxError(start, 'looking for beginning of value')
}

function readWord(text: string, start: number, word: string, value: Value): Value {
  if (!text.startsWith(word, start)) {
    let i = 1
    while (text.charAt(start + i) === word.charAt(i)) i++
    throw new JsonSyntaxError(start + i, `in literal ${word} (expecting '${word.charAt(i)}')`)
  }
  next = start + word.length
  return value
}
