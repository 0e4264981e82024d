// Source to tokens, the longest that fits first. Characters that fit no token are reported and skipped, so that one bad
// character does not hide the errors behind it.
import type { Issue, Source } from './source.js'

/** Kinds of token by the order in which messages list what was expected. */
export const T = {
  EOF: 0,
  EQUALS: 1,
  NOT_EQUALS: 2,
  IN: 3,
  LESS: 4,
  LESS_EQUALS: 5,
  GREATER_EQUALS: 6,
  GREATER: 7,
  AND: 8,
  OR: 9,
  LBRACKET: 10,
  RBRACKET: 11,
  LBRACE: 12,
  RBRACE: 13,
  LPAREN: 14,
  RPAREN: 15,
  DOT: 16,
  COMMA: 17,
  MINUS: 18,
  EXCLAM: 19,
  QUESTION: 20,
  COLON: 21,
  PLUS: 22,
  STAR: 23,
  SLASH: 24,
  PERCENT: 25,
  TRUE: 26,
  FALSE: 27,
  NULL: 28,
  FLOAT: 29,
  INT: 30,
  UINT: 31,
  STRING: 32,
  BYTES: 33,
  IDENTIFIER: 34,
  ESC_IDENTIFIER: 35,
} as const

export type TokenType = (typeof T)[keyof typeof T]

/** How messages name each kind of token. */
export const TOKEN_NAMES: readonly string[] = [
  '<EOF>',
  ...[
    '==',
    '!=',
    'in',
    '<',
    '<=',
    '>=',
    '>',
    '&&',
    '||',
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    '.',
    ',',
    '-',
    '!',
    '?',
    ':',
  ].map(text => `'${text}'`),
  ...['+', '*', '/', '%', 'true', 'false', 'null'].map(text => `'${text}'`),
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
]

export interface Token {
  readonly type: TokenType
  readonly text: string
  /** The code point where it begins. */
  readonly offset: number
  /** The space and comments before it. */
  readonly before: string
}

export interface Lexed {
  /** Ends with an EOF token. */
  readonly tokens: readonly Token[]
  readonly issues: readonly Issue[]
}

export function lex({ text, points }: Source): Lexed {
  const tokens: Token[] = []
  const issues: Issue[] = []
  // Where all is ASCII, code points and UTF-16 units have the same indexes and slices come for free.
  const plain = text.length === points.length
  const slice = (from: number, to: number): string =>
    plain ? text.slice(from, to) : String.fromCodePoint(...points.slice(from, to))

  let at = 0
  let before = ''
  while (at < points.length) {
    const c = points[at]!
    if (isSpace(c)) {
      before += String.fromCodePoint(c)
      at++
      continue
    }
    if (c === SLASH && points[at + 1] === SLASH) {
      const start = at
      while (at < points.length && points[at] !== NEWLINE) at++
      before += slice(start, at)
      continue
    }
    const { type, end } = scan(points, at)
    if (type === undefined) {
      const display = slice(at, end + 1).replace(
        /[\n\r\t]/g,
        found => ({ '\n': '\\n', '\r': '\\r', '\t': '\\t' })[found]!,
      )
      issues.push({ offset: at, message: `Syntax error: token recognition error at: '${display}'` })
      at = end + 1
    } else {
      const found = slice(at, end)
      const word = type === T.IDENTIFIER ? WORDS.get(found) : undefined
      tokens.push({ type: word ?? type, text: found, offset: at, before })
      before = ''
      at = end
    }
  }
  tokens.push({ type: T.EOF, text: '<EOF>', offset: points.length, before })
  return { tokens, issues }
}

/** The token and its end, or no type and the place where nothing fitted any more. */
interface Scanned {
  readonly type: TokenType | undefined
  readonly end: number
}

type Points = readonly number[]

const WORDS: ReadonlyMap<string, TokenType> = new Map<string, TokenType>([
  ['in', T.IN],
  ['true', T.TRUE],
  ['false', T.FALSE],
  ['null', T.NULL],
])

const code = (character: string): number => character.charCodeAt(0)
const NEWLINE = 10
const RETURN = 13
const SLASH = code('/')
const QUOTE = code('"')
const APOSTROPHE = code("'")
const BACKSLASH = code('\\')
const BACKTICK = code('`')
const DOT = code('.')
const ZERO = code('0')

const SINGLE: ReadonlyMap<number, TokenType> = new Map<number, TokenType>(
  (
    [
      ['[', T.LBRACKET],
      [']', T.RBRACKET],
      ['{', T.LBRACE],
      ['}', T.RBRACE],
      ['(', T.LPAREN],
      [')', T.RPAREN],
      ['.', T.DOT],
      [',', T.COMMA],
      ['-', T.MINUS],
      ['!', T.EXCLAM],
      ['?', T.QUESTION],
      [':', T.COLON],
      ['+', T.PLUS],
      ['*', T.STAR],
      ['/', T.SLASH],
      ['%', T.PERCENT],
      ['<', T.LESS],
      ['>', T.GREATER],
    ] as const
  ).map(([character, type]) => [code(character), type]),
)

/** Two characters that make one token; `=`, `&` and `|` alone are none. */
const DOUBLE: ReadonlyMap<number, readonly [second: number, type: TokenType]> = new Map([
  [code('='), [code('='), T.EQUALS]],
  [code('!'), [code('='), T.NOT_EQUALS]],
  [code('<'), [code('='), T.LESS_EQUALS]],
  [code('>'), [code('='), T.GREATER_EQUALS]],
  [code('&'), [code('&'), T.AND]],
  [code('|'), [code('|'), T.OR]],
] as const)

function scan(points: Points, at: number): Scanned {
  const c = points[at]!
  if (isLetter(c)) return scanWord(points, at)
  if (isDigit(c) || (c === DOT && isDigit(points[at + 1]))) return scanNumber(points, at)
  if (c === QUOTE || c === APOSTROPHE) return scanString(points, at, false)
  if (c === BACKTICK) return scanEscapedIdentifier(points, at)
  const double = DOUBLE.get(c)
  if (double && points[at + 1] === double[0]) return { type: double[1], end: at + 2 }
  const single = SINGLE.get(c)
  if (single !== undefined) return { type: single, end: at + 1 }
  // A half of a pair was read when the character behind it did not fit.
  return { type: undefined, end: double ? Math.min(at + 1, points.length - 1) : at }
}

function scanWord(points: Points, at: number): Scanned {
  let end = at + 1
  while (isLetter(points[end]) || isDigit(points[end])) end++
  const next = points[end]
  if ((next === QUOTE || next === APOSTROPHE) && end - at <= 2) {
    const prefix = String.fromCodePoint(...points.slice(at, end)).toLowerCase()
    // `br` may not be written `rb`.
    if (prefix === 'r' || prefix === 'b' || prefix === 'br') {
      const string = scanString(points, end, prefix.endsWith('r'))
      if (string.type !== undefined) return { type: prefix === 'r' ? T.STRING : T.BYTES, end: string.end }
    }
  }
  return { type: T.IDENTIFIER, end }
}

function scanNumber(points: Points, at: number): Scanned {
  if (points[at] === ZERO && points[at + 1] === code('x') && isHex(points[at + 2])) {
    let end = at + 2
    while (isHex(points[end])) end++
    return isU(points[end]) ? { type: T.UINT, end: end + 1 } : { type: T.INT, end }
  }
  let end = at
  while (isDigit(points[end])) end++
  let float = false
  if (points[end] === DOT && isDigit(points[end + 1])) {
    float = true
    end++
    while (isDigit(points[end])) end++
  }
  if (points[end] === code('e') || points[end] === code('E')) {
    let digits = end + 1
    if (points[digits] === code('+') || points[digits] === code('-')) digits++
    if (isDigit(points[digits])) {
      float = true
      end = digits
      while (isDigit(points[end])) end++
    }
  }
  if (float) return { type: T.FLOAT, end }
  return isU(points[end]) ? { type: T.UINT, end: end + 1 } : { type: T.INT, end }
}

function scanString(points: Points, at: number, raw: boolean): Scanned {
  const quote = points[at]!
  if (points[at + 1] === quote && points[at + 2] === quote) {
    const triple = scanTriple(points, at + 3, quote, raw)
    // Failing that, the first two quotes are an empty string.
    return triple ?? { type: T.STRING, end: at + 2 }
  }
  let i = at + 1
  for (; i < points.length; i++) {
    const c = points[i]!
    if (c === quote) return { type: T.STRING, end: i + 1 }
    if (c === NEWLINE || c === RETURN) break
    if (c === BACKSLASH && !raw) {
      const after = skipEscape(points, i)
      if (after < 0) {
        i = -after
        break
      }
      i = after - 1
    }
  }
  return { type: undefined, end: i }
}

function scanTriple(points: Points, from: number, quote: number, raw: boolean): Scanned | undefined {
  for (let i = from; i < points.length; i++) {
    if (points[i] === quote && points[i + 1] === quote && points[i + 2] === quote) return { type: T.STRING, end: i + 3 }
    if (points[i] === BACKSLASH && !raw) {
      const after = skipEscape(points, i)
      if (after < 0) return undefined
      i = after - 1
    }
  }
  return undefined
}

/** The place behind an escape sequence, or the negated place where it breaks off. */
function skipEscape(points: Points, at: number): number {
  const c = points[at + 1]
  if (c === undefined) return -(at + 1)
  const letter = String.fromCodePoint(c)
  if ('abfnrtv"\'\\?`'.includes(letter)) return at + 2
  const digits = letter === 'x' || letter === 'X' ? 2 : letter === 'u' ? 4 : letter === 'U' ? 8 : 0
  for (let i = 0; i < digits; i++) if (!isHex(points[at + 2 + i])) return -(at + 2 + i)
  if (digits > 0) return at + 2 + digits
  if (c < ZERO || c > ZERO + 3) return -(at + 1)
  for (let i = 2; i < 4; i++) if (!isOctal(points[at + i])) return -(at + i)
  return at + 4
}

function scanEscapedIdentifier(points: Points, at: number): Scanned {
  let i = at + 1
  while (isLetter(points[i]) || isDigit(points[i]) || (points[i] !== undefined && '.-/ '.includes(char(points[i]!))))
    i++
  return points[i] === BACKTICK && i > at + 1 ? { type: T.ESC_IDENTIFIER, end: i + 1 } : { type: undefined, end: i }
}

const char = (point: number): string => String.fromCodePoint(point)
const isSpace = (c: number): boolean => c === 32 || c === 9 || c === NEWLINE || c === RETURN || c === 12
const isDigit = (c: number | undefined): boolean => c !== undefined && c >= 48 && c <= 57
const isOctal = (c: number | undefined): boolean => c !== undefined && c >= 48 && c <= 55
const isLetter = (c: number | undefined): boolean =>
  c !== undefined && ((c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95)
const isHex = (c: number | undefined): boolean =>
  c !== undefined && (isDigit(c) || (c >= 97 && c <= 102) || (c >= 65 && c <= 70))
const isU = (c: number | undefined): boolean => c === 117 || c === 85
