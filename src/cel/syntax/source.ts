// The text of an expression, and errors printed with their position in it. CEL counts code points, so offsets do too.

/** An error in an expression. `offset` is a code point of the source; -1 stands for no position. */
export interface Issue {
  readonly offset: number
  readonly message: string
}

export interface Source {
  readonly text: string
  /** The code points of the text. */
  readonly points: readonly number[]
}

export const sourceOf = (text: string): Source => ({ text, points: Array.from(text, c => c.codePointAt(0)!) })

/** After so many syntax errors an expression is not read any further. */
export const MAX_SYNTAX_ERRORS = 100

/** At most so many errors of one expression are printed: the first that were found. */
const MAX_PRINTED = 100

/** Lines with more bytes than this are not printed below an error. */
const MAX_LINE_BYTES = 16_384

/** The issues in the order of their positions, each with the line it is in and a caret below the position. */
export function printIssues(source: Source, issues: readonly Issue[], name = '<input>'): string {
  const lines = linesOf(source)
  const located = issues.slice(0, MAX_PRINTED).map(({ message, offset }) => {
    // In an empty source there is a line, but no position in it.
    const { line, column } = source.text === '' ? { line: 1, column: -1 } : locate(lines, offset)
    return { message, line, column }
  })
  // Sorting is stable: errors of one position stay in the order in which they were found.
  located.sort((a, b) => a.line - b.line || a.column - b.column)
  const printed = located.map(({ line, column, message }) => {
    const head = `ERROR: ${name}:${line}:${column + 1}: ${message}`
    // An error without a position has its line printed as -1 and its column as 0.
    return column < 0 ? head : head + snippet(lines[line - 1]?.text ?? '', column)
  })
  if (issues.length > MAX_PRINTED) printed.push(`${issues.length - MAX_PRINTED} more errors were truncated`)
  return printed.join('\n')
}

/** The line and column of a code point, both from 1, as editors count. */
export function positionIn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const { line, column } = locate(linesOf(sourceOf(text)), offset)
  return { line, column: column + 1 }
}

interface Line {
  readonly text: string
  /** The code point with which it begins. */
  readonly start: number
}

function linesOf({ text, points }: Source): readonly Line[] {
  const starts = [0]
  for (let i = 0; i < points.length; i++) if (points[i] === NEWLINE) starts.push(i + 1)
  const texts = text.split('\n')
  return starts.map((start, i) => ({ start, text: texts[i]! }))
}

const NEWLINE = 10

interface Location {
  /** From 1; -1 for no position. */
  readonly line: number
  /** From 0; -1 for no position. */
  readonly column: number
}

const NOWHERE: Location = { line: -1, column: -1 }

/** By binary search: an expression can have as many errors as characters. */
function locate(lines: readonly Line[], offset: number): Location {
  if (offset < 0) return NOWHERE
  let low = 0
  let high = lines.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (lines[middle]!.start <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: offset - lines[low]!.start }
}

function snippet(line: string, column: number): string {
  if (Buffer.byteLength(line) > MAX_LINE_BYTES) return ''
  const shown = line.replaceAll('\t', ' ')
  const characters = Array.from(shown)
  let marks = ''
  // A character outside ASCII is taken to be as wide as the wide dot.
  for (let i = 0; i < column; i++) marks += isWide(characters[i]) ? '．' : '.'
  return `\n | ${shown}\n | ${marks}${isWide(characters[column]) ? '＾' : '^'}`
}

const isWide = (character: string | undefined): boolean => character !== undefined && character.codePointAt(0)! > 0x7f
