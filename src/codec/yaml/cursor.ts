// The position of the YAML scanner in its text, and the character classes of YAML 1.1.
// The text ends with NULs, so that reading a few characters ahead is always possible; NUL is not a YAML character.
import { CodecError } from '../codec-error.js'

export interface Cursor {
  readonly text: string
  at: number
  /** Counted from 0. */
  line: number
  /** The position in the text where the line begins. */
  lineStart: number
}

export const column = (cursor: Cursor): number => cursor.at - cursor.lineStart

/** The code of the character that many positions ahead. */
export const peek = (cursor: Cursor, ahead = 0): number => cursor.text.charCodeAt(cursor.at + ahead)

export const TAB = 0x09
export const SPACE = 0x20

export const isBlank = (c: number): boolean => c === SPACE || c === TAB
export const isBreak = (c: number): boolean => c === 0x0a || c === 0x0d || c === 0x85 || c === 0x2028 || c === 0x2029
export const isEnd = (c: number): boolean => c === 0
export const isBreakOrEnd = (c: number): boolean => c === 0 || isBreak(c)
export const isBlankOrEnd = (c: number): boolean => isBlank(c) || isBreakOrEnd(c)
export const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39
export const isWordCharacter = (c: number): boolean =>
  isDigit(c) || (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || c === 0x5f || c === 0x2d
export const isHex = (c: number): boolean => isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66)

/** Skips a line break, if there is one, and returns its text in a scalar. */
export function takeBreak(cursor: Cursor): string {
  const c = peek(cursor)
  if (!isBreak(c)) return ''
  cursor.at += c === 0x0d && peek(cursor, 1) === 0x0a ? 2 : 1
  cursor.line++
  cursor.lineStart = cursor.at
  return c === 0x2028 || c === 0x2029 ? String.fromCharCode(c) : '\n'
}

export function skipBlanks(cursor: Cursor): void {
  while (isBlank(peek(cursor))) cursor.at++
}

export function skipComment(cursor: Cursor): void {
  if (peek(cursor) === 0x23) while (!isBreakOrEnd(peek(cursor))) cursor.at++
}

/** True at `---` or `...` at the beginning of a line. */
export function atDocumentMark(cursor: Cursor): boolean {
  if (cursor.at !== cursor.lineStart) return false
  const mark = cursor.text.slice(cursor.at, cursor.at + 3)
  return (mark === '---' || mark === '...') && isBlankOrEnd(peek(cursor, 3))
}

/** The scanner's errors have the line of the problem, or for the first line that of the context. */
export const scanError = (cursor: Cursor, problem: string, contextLine = cursor.line): CodecError =>
  yamlError(problem, cursor.line === 0 ? contextLine : cursor.line + 1)

/** An error at a line counted from 1; 0 means no line. */
export const yamlError = (problem: string, line = 0): CodecError =>
  new CodecError('malformed', `yaml: ${line === 0 ? '' : `line ${line}: `}${problem}`)
