// Encodes JSON as Go's encoding/json does: the same numbers, and `<`, `>`, `&`, U+2028 and U+2029 escaped. Kubernetes
// ends a response with a newline unless it is pretty; the caller adds it.
import { compareTexts } from '../../meta/go/go-text.js'
import { isObject, type Value, WholeFloat } from '../../meta/values/value.js'

export interface JsonEncodeOptions {
  /** Two spaces per level, as for `?pretty=true`. */
  pretty?: boolean
  /** Members sorted by name, as Go prints a map; otherwise in the order of the object. */
  sortKeys?: boolean
}

export function encodeJson(value: Value, { pretty = false, sortKeys = false }: JsonEncodeOptions = {}): string {
  if (!pretty && !sortKeys && isPlain(value, 0)) {
    const text = JSON.stringify(value)
    if (!mayDiffer(text)) return text
  }
  let text = ''
  for (const piece of write(value, pretty, sortKeys)) text += piece
  return text
}

/** Indented JSON in pieces. Deep values are much longer in it, because every line is indented. */
export const prettyJsonPieces = (value: Value): Generator<string> => write(value, true, false)

/** About so many characters are one piece. */
const PIECE = 64 * 1024

/** Whether Go may print something of it in another way. In a long text a few searches take a tenth of the time of a pattern. */
function mayDiffer(text: string): boolean {
  if (text.length < LONG) return PRINTED_DIFFERENTLY.test(text)
  for (const sign of SIGNS) if (text.includes(sign)) return true
  return false
}

/** Characters that Go escapes and JSON.stringify does not, or the other way round. */
const PRINTED_DIFFERENTLY = /[<>&\u2028\u2029]|\\ud[89a-f]/
/** The same, and any text with a backslash before `ud`, which is printed the slow way. */
const SIGNS = ['<', '>', '&', '\u2028', '\u2029', '\\ud']
const LONG = 100

// JSON.stringify is recursive; a value nested deeper than this is written with an explicit stack.
const MAX_RECURSION = 500

/** Whether JSON.stringify prints the value correctly: no int64 beyond 2^53, no whole floats, not nested too deeply. */
function isPlain(value: Value, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint'
  if (value instanceof WholeFloat || depth > MAX_RECURSION) return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item, depth + 1)) return false
    return true
  }
  for (const key of Object.keys(value)) if (!isPlain(value[key]!, depth + 1)) return false
  return true
}

interface Open {
  members: Value[]
  keys: string[] | undefined
  done: number
}

function* write(root: Value, pretty: boolean, sortKeys: boolean): Generator<string> {
  const open: Open[] = []
  let text = ''
  const begin = (value: Value): void => {
    if (Array.isArray(value) && value.length > 0) {
      text += '['
      open.push({ members: value, keys: undefined, done: 0 })
      return
    }
    if (isObject(value)) {
      const keys = Object.keys(value)
      if (keys.length > 0) {
        if (sortKeys) keys.sort(compareTexts)
        text += '{'
        open.push({ members: keys.map(key => value[key]!), keys, done: 0 })
        return
      }
    }
    text += encodeScalar(value)
  }
  const line = (): string => (pretty ? `\n${'  '.repeat(open.length)}` : '')
  begin(root)
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top.done === top.members.length) {
      open.pop()
      text += line() + (top.keys ? '}' : ']')
    } else {
      const i = top.done++
      text += (i > 0 ? ',' : '') + line()
      if (top.keys) text += `${encodeString(top.keys[i]!)}:${pretty ? ' ' : ''}`
      begin(top.members[i]!)
    }
    if (text.length < PIECE) continue
    yield text
    text = ''
  }
  yield text
}

function encodeScalar(value: Value): string {
  if (typeof value === 'string') return encodeString(value)
  if (typeof value === 'number') return encodeNumber(value)
  if (value instanceof WholeFloat) return Object.is(value.value, -0) ? '-0' : encodeNumber(value.value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]' : '{}'
  return String(value)
}

/** JavaScript and Go print a float64 in JSON alike. */
function encodeNumber(number: number): string {
  if (!Number.isFinite(number)) throw new RangeError(`json: unsupported value: ${number}`)
  return String(number)
}

// Characters that may need an escape. Surrogates match too, but a pair is printed unchanged.
// oxlint-disable-next-line no-control-regex
const SPECIAL = /["\\\u0000-\u001f<>&\u2028\u2029\ud800-\udfff]/
// oxlint-disable-next-line no-control-regex
const ALL_ESCAPED = /["\\\u0000-\u001f<>&\u2028\u2029]/g

/** A quoted string. An unpaired surrogate, which Go strings cannot have, becomes U+FFFD. */
export function encodeString(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`
  return `"${text.toWellFormed().replace(ALL_ESCAPED, escapeCharacter)}"`
}

const SHORT_ESCAPES: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

const escapeCharacter = (character: string): string =>
  SHORT_ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
