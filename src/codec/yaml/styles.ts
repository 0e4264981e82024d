// Decides in which YAML styles a string can be written so that it is read back unchanged.

export interface Analysis {
  multiline: boolean
  plainAllowed: boolean
  singleQuotedAllowed: boolean
  literalAllowed: boolean
}

const ALWAYS_AT_START = '#,[]{}&*!|>\'"%@`'
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[^\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/
const BREAK = /[\n\r\u0085\u2028\u2029]/
const BREAK_AROUND = /^[\n\r\u0085\u2028\u2029]|[\n\r\u0085\u2028\u2029]$/
const BREAK_THEN_SPACE = /[\n\r\u0085\u2028\u2029] /
const SPACE_THEN_BREAK = / [\n\r\u0085\u2028\u2029]/
/** `: ` and ` #` inside a string, and `:` at its end. */
const INNER_INDICATOR = /:(?=[ \t]|$)|[ \t\n\r\u0085\u2028\u2029]#/

export function analyze(text: string): Analysis {
  if (text === '') return { multiline: false, plainAllowed: true, singleQuotedAllowed: true, literalAllowed: false }
  const multiline = BREAK.test(text)
  const unsafe = UNPRINTABLE.test(text) || SPACE_THEN_BREAK.test(text)
  const edges = text.startsWith(' ') || text.endsWith(' ') || BREAK_AROUND.test(text)
  const breakThenSpace = multiline && BREAK_THEN_SPACE.test(text)
  return {
    multiline,
    plainAllowed: !(multiline || unsafe || edges || hasIndicators(text)),
    singleQuotedAllowed: !(unsafe || breakThenSpace),
    literalAllowed: !(unsafe || text.endsWith(' ')),
  }
}

function hasIndicators(text: string): boolean {
  if (text.startsWith('---') || text.startsWith('...')) return true
  const first = text.charAt(0)
  if (ALWAYS_AT_START.includes(first)) return true
  if ((first === '?' || first === '-') && (text.length === 1 || text[1] === ' ' || text[1] === '\t')) return true
  return INNER_INDICATOR.test(text)
}

const BASE60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/** Kubernetes reads `12:30` as a string, but other YAML 1.1 readers read it as a number. */
export const looksLikeBase60 = (text: string): boolean => BASE60.test(text)

const ESCAPES: Record<string, string> = {
  '\0': '\\0',
  '\u0007': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\u001b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\u0085': '\\N',
  '\u00a0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
}

/** The escape of a character in double quotes, if it needs one. Characters beyond U+FFFF need none. */
export function doubleQuotedEscape(character: string): string | undefined {
  if (character === '\u00a0' || !(character.length > 1 || NEEDS_ESCAPE.test(character))) return undefined
  const short = ESCAPES[character]
  if (short !== undefined) return short
  const code = character.codePointAt(0)!
  const hex = (digits: number): string => code.toString(16).toUpperCase().padStart(digits, '0')
  if (code <= 0xff) return `\\x${hex(2)}`
  return code <= 0xffff ? `\\u${hex(4)}` : `\\U${hex(8)}`
}

const NEEDS_ESCAPE = /[^\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|["\\\u2028\u2029]/
