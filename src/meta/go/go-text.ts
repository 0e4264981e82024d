// Go's formatting and parsing of plain values. Kubernetes' messages quote names, values and errors in Go's formats, so
// messages that quote something use these functions.
import { failed, parsed, type Result } from '../../base/result.js'
import { isInteger, isNumber, isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../values/value.js'

/** A string in double quotes, as `%q` prints it. */
export function quote(text: string): string {
  // Most strings need only the quotes.
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`
  // What stays as it is, is copied in runs: one character after the other, a long text would take much time and memory.
  return `"${text.replace(ESCAPED, escapeOf)}"`
}

/** What `%q` does not print as it is. */
const ESCAPED = /["\\]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu

const escapeOf = (character: string): string => ASCII_ESCAPES[character.charCodeAt(0)] ?? quoteCharacter(character, '"')

/** A text in double quotes, as Go's package time prints one that it cannot parse: byte by byte. */
export function quoteTime(text: string): string {
  const bytes = (character: string): string => Buffer.from(character).toString('hex').replace(/../g, '\\x$&')
  return `"${text.replace(/["\\]/g, '\\$&').replace(/[^ -\x7f]/gu, bytes)}"`
}

/** A character in single quotes, as Go's JSON decoder prints an invalid one. */
export const quoteRune = (character: string): string => `'${quoteCharacter(character, "'")}'`

/** Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the space. */
export const isPrintable = (character: string): boolean =>
  character === ' ' || (/^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character) && character.isWellFormed())

/** The code point of a character as `%U` prints it: `U+000A`. */
export const printCodePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** The Go type of a value decoded from JSON, as `%T` prints it. */
export function goTypeOf(value: Value): string {
  if (value === null) return '<nil>'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (Array.isArray(value)) return '[]interface {}'
  if (isObject(value)) return 'map[string]interface {}'
  return value instanceof WholeFloat || !isInteger(value) ? 'float64' : 'int64'
}

/** The JSON type of a value, as `json: cannot unmarshal …` names it. */
export function jsonTypeOf(value: Value): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isNumber(value)) return 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** A list of strings as `%#v` prints it. */
export const printStrings = (texts: readonly string[]): string => `[]string{${texts.map(quote).join(', ')}}`

/** A float64 as `%v` prints it: `0.5`, `1e+06`, `1.5e-07`. */
export function printFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const power = Number(exponent)
  // Outside these bounds Go uses exponents; within them JavaScript prints the same shortest decimal.
  if (power >= -4 && power < 6) return String(value)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** A number of at least 1 with this many decimals, as `%.1f` prints it: a half is rounded to the even digit. */
export function printFixed(value: number, digits: number): string {
  const exact = value.toFixed(20)
  const end = exact.indexOf('.') + 1 + digits
  const isHalfway = /^50*$/.test(exact.slice(end))
  return isHalfway && Number(exact[end - 1]) % 2 === 0 ? exact.slice(0, end) : value.toFixed(digits)
}

export const printNumber = (value: number | bigint | WholeFloat): string => {
  if (value instanceof WholeFloat) return printFloat(value.value)
  return typeof value === 'number' && !Number.isInteger(value) ? printFloat(value) : String(value)
}

export const MAX_PRINTED_DEPTH = 500

/** A value as `%v` prints it: `map[a:1 b:[x y]]`. */
export function printPlain(value: Value, depth = 0): string {
  if (value === null) return '<nil>'
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (isNumber(value)) return printNumber(value)
  // Recursion has an end where Go's has none.
  if (depth > MAX_PRINTED_DEPTH) return '...'
  if (Array.isArray(value)) return `[${value.map(item => printPlain(item, depth + 1)).join(' ')}]`
  const names = Object.keys(value).toSorted(compareTexts)
  return `map[${names.map(name => `${name}:${printPlain(value[name]!, depth + 1)}`).join(' ')}]`
}

/**
 * A value as Go's encoding/json prints it: members sorted, `<`, `>` and `&` escaped.
 * `keepOrder` leaves members in their order, for values that are structs in Go.
 */
export function printJson(root: Value, { keepOrder = false } = {}): string {
  let text = ''
  // Without recursion, since values may be nested 10,000 deep. What is printed next is last.
  const open: (Value | Punctuation)[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (value instanceof Punctuation) text += value.text
    else if (typeof value === 'string') text += printJsonString(value)
    else if (typeof value !== 'object' || value === null) text += String(value)
    else if (value instanceof WholeFloat) text += String(value.value)
    else if (Array.isArray(value)) {
      open.push(LIST_END)
      for (let i = value.length - 1; i >= 0; i--) open.push(value[i]!, i === 0 ? LIST_BEGIN : COMMA)
      if (value.length === 0) open.push(LIST_BEGIN)
    } else {
      const keys = keepOrder ? Object.keys(value) : Object.keys(value).toSorted(compareTexts)
      open.push(MAP_END)
      for (let i = keys.length - 1; i >= 0; i--) {
        open.push(value[keys[i]!]!, new Punctuation(`${i === 0 ? '{' : ','}${printJsonString(keys[i]!)}:`))
      }
      if (keys.length === 0) open.push(MAP_BEGIN)
    }
  }
  return text
}

class Punctuation {
  constructor(readonly text: string) {}
}
const COMMA = new Punctuation(',')
const LIST_BEGIN = new Punctuation('[')
const LIST_END = new Punctuation(']')
const MAP_BEGIN = new Punctuation('{')
const MAP_END = new Punctuation('}')

const printJsonString = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replace(
    /[<>&\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Parses a decimal int64 like `strconv.ParseInt`: digits after an optional sign. */
export function parseInt64(text: string): Result<bigint> {
  if (!/^[+-]?[0-9]+$/.test(text)) return numberError('ParseInt', text, 'invalid syntax')
  const value = readInteger(text, 19)
  if (value === undefined || value > MAX_INT64 || value < -MAX_INT64 - 1n) {
    return numberError('ParseInt', text, 'value out of range')
  }
  return parsed(value)
}

/** Parses a decimal uint64 like `strconv.ParseUint`: digits only. */
export function parseUint64(text: string): Result<bigint> {
  if (!/^[0-9]+$/.test(text)) return numberError('ParseUint', text, 'invalid syntax')
  const value = readInteger(text, 20)
  if (value === undefined || value > MAX_UINT64) return numberError('ParseUint', text, 'value out of range')
  return parsed(value)
}

export const MAX_INT64 = 2n ** 63n - 1n
const MAX_UINT64 = 2n ** 64n - 1n

/** Reads only as many digits as can matter, so that the cost is bounded. */
function readInteger(text: string, maxDigits: number): bigint | undefined {
  const digits = text.replace(/^[+-]?0*/, '')
  if (digits.length > maxDigits) return undefined
  const value = BigInt(digits === '' ? '0' : digits)
  return text.startsWith('-') ? -value : value
}

const numberError = (call: string, text: string, error: string): Result<never> =>
  failed(`strconv.${call}: parsing ${quote(text)}: ${error}`)

/** Compares two strings by their UTF-8 bytes, as Go sorts strings. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Surrogates encode characters beyond U+FFFF, so they sort after all other units. */
const rank = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit)

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
}

function quoteCharacter(character: string, mark: string): string {
  if (character === mark) return `\\${mark}`
  if (Object.hasOwn(SHORT_ESCAPES, character)) return SHORT_ESCAPES[character]!
  if (!character.isWellFormed()) return '\ufffd' // an unpaired surrogate is not a character in Go
  if (isPrintable(character)) return character
  const code = character.codePointAt(0) ?? 0
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`
}

const ASCII_ESCAPES = Array.from({ length: 0x80 }, (_, code) => quoteCharacter(String.fromCharCode(code), '"'))

/** The object with its members sorted by name; undefined members are omitted. */
export function byName(object: ValueObject): ValueObject {
  const ordered: ValueObject = {}
  for (const name of Object.keys(object).toSorted(compareTexts)) {
    const value: Value | undefined = object[name]
    if (value !== undefined) setOwn(ordered, name, value)
  }
  return ordered
}
