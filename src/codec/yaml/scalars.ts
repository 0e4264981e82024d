// Scans the scalars of YAML 1.1: plain, quoted, literal and folded. Each function starts at the first character of the
// scalar, moves past it, and returns its text.
import {
  atDocumentMark,
  type Cursor,
  column,
  isBlank,
  isBlankOrEnd,
  isBreak,
  isBreakOrEnd,
  isDigit,
  isEnd,
  isHex,
  peek,
  SPACE,
  scanError,
  skipBlanks,
  skipComment,
  TAB,
  takeBreak,
} from './cursor.js'

export interface PlainScalar {
  text: string
  /** True if a line break follows, after which a key may begin. */
  endsLine: boolean
}

/** Scans a plain scalar of a node at that indentation; in flow collections some characters end it. */
export function scanPlainScalar(cursor: Cursor, indent: number, inFlow: boolean): PlainScalar {
  const contextLine = cursor.line
  let text = ''
  let pending = '' // the folded white space since the last word, used if another word follows
  let brokeLine = false
  for (;;) {
    if (atDocumentMark(cursor) || peek(cursor) === 0x23) break
    const start = cursor.at
    for (let c = peek(cursor); !isBlankOrEnd(c); c = peek(cursor)) {
      if (c === 0x3a && isBlankOrEnd(peek(cursor, 1))) break
      if (inFlow && (c === 0x2c || c === 0x3f || c === 0x5b || c === 0x5d || c === 0x7b || c === 0x7d)) break
      cursor.at++
    }
    if (cursor.at > start) {
      text += pending + cursor.text.slice(start, cursor.at)
      pending = ''
      brokeLine = false
    }
    const c = peek(cursor)
    if (!(isBlank(c) || isBreak(c))) break
    const gap = scanGap(cursor, brokeLine, () => {
      if (column(cursor) < indent && peek(cursor) === TAB) {
        throw scanError(cursor, 'found a tab character that violates indentation', contextLine)
      }
    })
    pending = gap.text
    brokeLine = gap.brokeLine
    if (!inFlow && column(cursor) < indent) break
  }
  return { text, endsLine: brokeLine }
}

interface Gap {
  text: string
  brokeLine: boolean
}

/**
 * Skips blanks and line breaks between the words of a scalar and folds them: one break becomes a space, several become
 * one less. Blanks next to a break are dropped.
 */
function scanGap(cursor: Cursor, afterBreak: boolean, checkIndentation: () => void): Gap {
  let blanks = ''
  let firstBreak = ''
  let moreBreaks = ''
  let brokeLine = afterBreak
  for (let c = peek(cursor); isBlank(c) || isBreak(c); c = peek(cursor)) {
    if (isBlank(c)) {
      if (brokeLine) checkIndentation()
      else blanks += String.fromCharCode(c)
      cursor.at++
    } else if (brokeLine) moreBreaks += takeBreak(cursor)
    else {
      firstBreak = takeBreak(cursor)
      brokeLine = true
    }
  }
  if (!brokeLine) return { text: blanks, brokeLine }
  if (firstBreak === '\n') return { text: moreBreaks === '' ? ' ' : moreBreaks, brokeLine }
  return { text: firstBreak + moreBreaks, brokeLine }
}

/** Scans a quoted scalar, including its quotes. */
export function scanQuotedScalar(cursor: Cursor, single: boolean): string {
  const contextLine = cursor.line
  const quote = single ? 0x27 : 0x22
  cursor.at++
  let text = ''
  for (;;) {
    if (atDocumentMark(cursor)) throw scanError(cursor, 'found unexpected document indicator', contextLine)
    if (isEnd(peek(cursor))) throw scanError(cursor, 'found unexpected end of stream', contextLine)
    let start = cursor.at
    let escapedBreak = false
    for (let c = peek(cursor); !isBlankOrEnd(c); c = peek(cursor)) {
      if (c === quote) {
        if (!single || peek(cursor, 1) !== quote) break
        cursor.at++
        text += cursor.text.slice(start, cursor.at)
        start = ++cursor.at
      } else if (single || c !== 0x5c) cursor.at++
      else {
        text += cursor.text.slice(start, cursor.at)
        cursor.at++
        escapedBreak = isBreak(peek(cursor))
        if (escapedBreak) {
          takeBreak(cursor)
          start = cursor.at
          break
        }
        text += scanEscape(cursor, contextLine)
        start = cursor.at
      }
    }
    text += cursor.text.slice(start, cursor.at)
    if (peek(cursor) === quote) break
    text += scanGap(cursor, escapedBreak, () => {}).text
  }
  cursor.at++
  return text
}

const ESCAPES: Record<string, string> = {
  '0': '\0',
  a: '\u0007',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\u001b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\u0085',
  _: '\u00a0',
  L: '\u2028',
  P: '\u2029',
}
const HEX_ESCAPES: Record<string, number> = { x: 2, u: 4, U: 8 }

/** Scans the characters after a backslash. */
function scanEscape(cursor: Cursor, contextLine: number): string {
  const mark = cursor.text.charAt(cursor.at)
  const simple = ESCAPES[mark]
  if (simple !== undefined) {
    cursor.at++
    return simple
  }
  const digits = HEX_ESCAPES[mark]
  if (digits === undefined) {
    cursor.at--
    throw scanError(cursor, 'found unknown escape character', contextLine)
  }
  cursor.at++
  for (let i = 0; i < digits; i++) {
    if (!isHex(peek(cursor, i))) throw scanError(cursor, 'did not find expected hexdecimal number', contextLine)
  }
  const code = Number.parseInt(cursor.text.slice(cursor.at, cursor.at + digits), 16)
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
    throw scanError(cursor, 'found invalid Unicode character escape code', contextLine)
  }
  cursor.at += digits
  return String.fromCodePoint(code)
}

/** Scans a literal (`|`) or folded (`>`) scalar of a node at that indentation. */
export function scanBlockScalar(cursor: Cursor, parentIndent: number, literal: boolean): string {
  const contextLine = cursor.line
  cursor.at++
  const { chomp, increment } = scanBlockHeader(cursor, contextLine)
  const block: Block = {
    contextLine,
    parentIndent,
    indent: increment === 0 ? 0 : Math.max(parentIndent, 0) + increment,
  }
  let text = ''
  let lineBreak = ''
  let emptyLines = scanEmptyLines(cursor, block)
  let startedBlank = false
  while (column(cursor) === block.indent && !isEnd(peek(cursor))) {
    const startsBlank = isBlank(peek(cursor))
    const folds = !literal && !startedBlank && !startsBlank && lineBreak === '\n'
    text += folds ? (emptyLines === '' ? ' ' : '') : lineBreak
    text += emptyLines
    startedBlank = startsBlank
    const start = cursor.at
    while (!isBreakOrEnd(peek(cursor))) cursor.at++
    text += cursor.text.slice(start, cursor.at)
    lineBreak = takeBreak(cursor)
    emptyLines = scanEmptyLines(cursor, block)
  }
  if (chomp !== '-') text += lineBreak
  if (chomp === '+') text += emptyLines
  return text
}

function scanBlockHeader(cursor: Cursor, contextLine: number): { chomp: string; increment: number } {
  let chomp = ''
  let increment = 0
  const takeChomp = (): void => {
    if (peek(cursor) === 0x2b || peek(cursor) === 0x2d) chomp = cursor.text.charAt(cursor.at++)
  }
  takeChomp()
  if (isDigit(peek(cursor))) {
    increment = peek(cursor) - 0x30
    if (increment === 0) throw scanError(cursor, 'found an indentation indicator equal to 0', contextLine)
    cursor.at++
    if (chomp === '') takeChomp()
  }
  skipBlanks(cursor)
  skipComment(cursor)
  if (!isBreakOrEnd(peek(cursor))) {
    throw scanError(cursor, 'did not find expected comment or line break', contextLine)
  }
  takeBreak(cursor)
  return { chomp, increment }
}

interface Block {
  contextLine: number
  parentIndent: number
  /** 0 until the first line that is not empty defines it. */
  indent: number
}

/** Skips indentation and empty lines, and determines the indentation if it is not known yet. */
function scanEmptyLines(cursor: Cursor, block: Block): string {
  let breaks = ''
  let widest = 0
  for (;;) {
    while ((block.indent === 0 || column(cursor) < block.indent) && peek(cursor) === SPACE) cursor.at++
    widest = Math.max(widest, column(cursor))
    if ((block.indent === 0 || column(cursor) < block.indent) && peek(cursor) === TAB) {
      throw scanError(cursor, 'found a tab character where an indentation space is expected', block.contextLine)
    }
    if (!isBreak(peek(cursor))) break
    breaks += takeBreak(cursor)
  }
  if (block.indent === 0) block.indent = Math.max(widest, block.parentIndent + 1, 1)
  return breaks
}
