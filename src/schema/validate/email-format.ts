// One mail address as Go's net/mail reads it: an address, bare or in angle brackets behind a name, with comments.
import { isIpv4, isIpv6 } from './address-formats.js'

export function isEmail(text: string): boolean {
  const at: Cursor = { text, position: 0 }
  skipSpace(at)
  const start = at.position
  if (!addressSpec(at)) {
    at.position = start
    if (peek(at) !== '<' && !phrase(at)) return false
    skipSpace(at)
    if (!take(at, '<') || !addressSpec(at) || !take(at, '>')) return false
  }
  return skipComments(at) && at.position === text.length
}

interface Cursor {
  readonly text: string
  position: number
}

const peek = ({ text, position }: Cursor): string => text.charAt(position)

function take(at: Cursor, character: string): boolean {
  if (peek(at) !== character) return false
  at.position++
  return true
}

function skipSpace(at: Cursor): void {
  while (peek(at) === ' ' || peek(at) === '\t') at.position++
}

/** Spaces and comments, which nest. */
function skipComments(at: Cursor): boolean {
  skipSpace(at)
  while (take(at, '(')) {
    for (let depth = 1; depth > 0; at.position++) {
      const character = peek(at)
      if (character === '') return false
      if (character === '\\') at.position++
      else if (character === '(') depth++
      else if (character === ')') depth--
    }
    skipSpace(at)
  }
  return true
}

function addressSpec(at: Cursor): boolean {
  skipSpace(at)
  const local = peek(at) === '"' ? (quoted(at) ?? '') !== '' : dotAtom(at)
  if (!local || !take(at, '@')) return false
  skipSpace(at)
  return peek(at) === '[' ? literal(at) : dotAtom(at)
}

/** The content of a text in quotes; undefined if there is none. */
function quoted(at: Cursor): string | undefined {
  at.position++
  let content = ''
  for (;;) {
    let character = peek(at)
    at.position++
    if (character === '"') return content
    if (character === '\\') {
      character = peek(at)
      at.position++
    }
    // Line breaks and other controls have no place here.
    if (character === '' || (character < ' ' && character !== '\t') || character === '\u007f') return undefined
    content += character
  }
}

function literal(at: Cursor): boolean {
  const end = at.text.indexOf(']', at.position)
  if (end < 0) return false
  const content = at.text.slice(at.position + 1, end)
  at.position = end + 1
  return content.startsWith('IPv6:') ? isIpv6(content.slice(5)) : isIpv4(content) || isIpv6(content)
}

function dotAtom(at: Cursor): boolean {
  const atom = word(at)
  return atom !== '' && !atom.startsWith('.') && !atom.endsWith('.') && !atom.includes('..')
}

function phrase(at: Cursor): boolean {
  let words = 0
  for (;;) {
    skipSpace(at)
    if (peek(at) === '"') {
      if (quoted(at) === undefined) return false
    } else if (word(at) === '') break
    words++
  }
  return words > 0
}

// oxlint-disable-next-line no-control-regex
const WORD = /[^\u0000- ()<>[\]:;@\\,"\u007f]*/y

function word(at: Cursor): string {
  WORD.lastIndex = at.position
  const found = WORD.exec(at.text)?.[0] ?? ''
  at.position += found.length
  return found
}
