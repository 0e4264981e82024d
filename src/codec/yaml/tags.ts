// Scans the properties of a YAML node or document: tags, anchors and directives.
import { Buffer } from 'node:buffer'
import {
  type Cursor,
  isBlank,
  isBlankOrEnd,
  isBreakOrEnd,
  isDigit,
  isHex,
  isWordCharacter,
  peek,
  scanError,
  skipBlanks,
  skipComment,
  takeBreak,
} from './cursor.js'

/** A tag as written: `!!int` has the handle `!!` and the suffix `int`; without a handle the suffix is the complete tag. */
export interface Tag {
  handle: string
  suffix: string
}

export type Directive = { version: string } | { handle: string; prefix: string }

/** Scans the name after `&` or `*`. */
export function scanAnchor(cursor: Cursor): string {
  const contextLine = cursor.line
  const start = ++cursor.at
  while (isWordCharacter(peek(cursor))) cursor.at++
  const c = peek(cursor)
  if (cursor.at === start || !(isBlankOrEnd(c) || '?:,]}%@`'.includes(String.fromCharCode(c)))) {
    throw scanError(cursor, 'did not find expected alphabetic or numeric character', contextLine)
  }
  return cursor.text.slice(start, cursor.at)
}

export function scanTag(cursor: Cursor): Tag {
  const contextLine = cursor.line
  let tag: Tag
  if (peek(cursor, 1) === 0x3c) {
    cursor.at += 2
    tag = { handle: '', suffix: scanUri(cursor, '', contextLine) }
    if (peek(cursor) !== 0x3e) throw scanError(cursor, "did not find the expected '>'", contextLine)
    cursor.at++
  } else {
    const handle = scanHandle(cursor, false, contextLine)
    if (handle.length > 1 && handle.endsWith('!')) tag = { handle, suffix: scanUri(cursor, '', contextLine) }
    else {
      const suffix = scanUri(cursor, handle, contextLine)
      tag = suffix === '' ? { handle: '', suffix: '!' } : { handle: '!', suffix }
    }
  }
  if (!isBlankOrEnd(peek(cursor))) {
    throw scanError(cursor, 'did not find expected whitespace or line break', contextLine)
  }
  return tag
}

/** Scans `!`, `!!` or `!name!`; outside a directive possibly the beginning of a tag without a handle. */
function scanHandle(cursor: Cursor, directive: boolean, contextLine: number): string {
  if (peek(cursor) !== 0x21) throw scanError(cursor, "did not find expected '!'", contextLine)
  const start = cursor.at++
  while (isWordCharacter(peek(cursor))) cursor.at++
  if (peek(cursor) === 0x21) cursor.at++
  else if (directive && cursor.at - start > 1) throw scanError(cursor, "did not find expected '!'", contextLine)
  return cursor.text.slice(start, cursor.at)
}

const URI_MARKS = ";/?:@&=+$,.!~*'()[]%"

/** Scans the rest of a tag whose beginning was scanned as a handle. */
function scanUri(cursor: Cursor, head: string, contextLine: number): string {
  const start = cursor.at
  let uri = head.slice(1)
  for (let c = peek(cursor); isWordCharacter(c) || (c !== 0 && URI_MARKS.includes(String.fromCharCode(c))); ) {
    if (c === 0x25) uri += scanUriEscape(cursor, contextLine)
    else uri += cursor.text.charAt(cursor.at++)
    c = peek(cursor)
  }
  if (head === '' && cursor.at === start) throw scanError(cursor, 'did not find expected tag URI', contextLine)
  return uri
}

/** Scans the `%xx` escapes of one UTF-8 character. */
function scanUriEscape(cursor: Cursor, contextLine: number): string {
  const octets: number[] = []
  for (let width = 1; octets.length < width; ) {
    if (peek(cursor) !== 0x25 || !isHex(peek(cursor, 1)) || !isHex(peek(cursor, 2))) {
      throw scanError(cursor, 'did not find URI escaped octet', contextLine)
    }
    const octet = Number.parseInt(cursor.text.slice(cursor.at + 1, cursor.at + 3), 16)
    if (octets.length > 0 && octet >> 6 !== 2) {
      throw scanError(cursor, 'found an incorrect trailing UTF-8 octet', contextLine)
    }
    if (octets.length === 0) {
      width = octet < 0x80 ? 1 : octet >> 5 === 6 ? 2 : octet >> 4 === 14 ? 3 : octet >> 3 === 30 ? 4 : 0
      if (width === 0) throw scanError(cursor, 'found an incorrect leading UTF-8 octet', contextLine)
    }
    octets.push(octet)
    cursor.at += 3
  }
  return Buffer.from(octets).toString('utf8')
}

/** Scans a line that begins with `%`. */
export function scanDirective(cursor: Cursor): Directive {
  const contextLine = cursor.line
  const start = ++cursor.at
  while (isWordCharacter(peek(cursor))) cursor.at++
  const name = cursor.text.slice(start, cursor.at)
  if (name === '') throw scanError(cursor, 'could not find expected directive name', contextLine)
  if (!isBlankOrEnd(peek(cursor))) {
    throw scanError(cursor, 'found unexpected non-alphabetical character', contextLine)
  }
  let directive: Directive
  if (name === 'YAML') directive = scanVersion(cursor, contextLine)
  else if (name === 'TAG') directive = scanTagDirective(cursor, contextLine)
  else throw scanError(cursor, 'found unknown directive name', contextLine)
  skipBlanks(cursor)
  skipComment(cursor)
  if (!isBreakOrEnd(peek(cursor))) {
    throw scanError(cursor, 'did not find expected comment or line break', contextLine)
  }
  takeBreak(cursor)
  return directive
}

function scanVersion(cursor: Cursor, contextLine: number): Directive {
  skipBlanks(cursor)
  const major = scanVersionNumber(cursor, contextLine)
  if (peek(cursor) !== 0x2e) {
    throw scanError(cursor, "did not find expected digit or '.' character", contextLine)
  }
  cursor.at++
  return { version: `${major}.${scanVersionNumber(cursor, contextLine)}` }
}

function scanVersionNumber(cursor: Cursor, contextLine: number): number {
  const start = cursor.at
  while (isDigit(peek(cursor))) {
    if (cursor.at - start === 2) throw scanError(cursor, 'found extremely long version number', contextLine)
    cursor.at++
  }
  if (cursor.at === start) throw scanError(cursor, 'did not find expected version number', contextLine)
  return Number(cursor.text.slice(start, cursor.at))
}

function scanTagDirective(cursor: Cursor, contextLine: number): Directive {
  skipBlanks(cursor)
  const handle = scanHandle(cursor, true, contextLine)
  if (!isBlank(peek(cursor))) throw scanError(cursor, 'did not find expected whitespace', contextLine)
  skipBlanks(cursor)
  const prefix = scanUri(cursor, '', contextLine)
  if (!isBlankOrEnd(peek(cursor))) {
    throw scanError(cursor, 'did not find expected whitespace or line break', contextLine)
  }
  return { handle, prefix }
}
