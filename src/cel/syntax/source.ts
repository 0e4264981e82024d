// The text of an expression, and errors shown at a place in it. CEL counts code points, so places are code points too.

/** A fault in an expression. `offset` is a code point of the source; -1 stands for no place in particular. */
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

/** At most so many errors of one expression are shown. */
const MAX_SHOWN = 100

/** All issues in the order of their places, each with the line it is in and a caret under the place. */
export function printIssues(source: Source, issues: readonly Issue[], name = '<input>'): string {
  const placed = issues.map(issue => ({ ...issue, ...locate(source, issue.offset) }))
  // Sorting is stable: errors of one place stay in the order in which they were found.
  placed.sort((a, b) => a.line - b.line || a.column - b.column)
  const shown = placed.slice(0, MAX_SHOWN).map(({ line, column, message }) => {
    const head = `ERROR: ${name}:${line}:${column + 1}: ${message}`
    // An error of no place has its line printed as -1 and its column as 0.
    return line < 0 ? `ERROR: ${name}:-1:0: ${message}` : head + snippet(source, line, column)
  })
  if (placed.length > MAX_SHOWN) shown.push(`${placed.length - MAX_SHOWN} more errors were truncated`)
  return shown.join('\n')
}

/** Line from 1, column from 0. */
export function locate({ points }: Source, offset: number): { line: number; column: number } {
  if (offset < 0) return { line: -1, column: -1 }
  let line = 1
  let start = 0
  for (let i = 0; i < offset && i < points.length; i++) {
    if (points[i] === NEWLINE) {
      line++
      start = i + 1
    }
  }
  return { line, column: offset - start }
}

const NEWLINE = 10

function snippet({ text }: Source, line: number, column: number): string {
  const shown = (text.split('\n')[line - 1] ?? '').replaceAll('\t', ' ')
  const characters = Array.from(shown)
  let marks = ''
  // A character outside ASCII is taken to be as wide as the wide dot.
  for (let i = 0; i < column; i++) marks += isWide(characters[i]) ? '．' : '.'
  return `\n | ${shown}\n | ${marks}${isWide(characters[column]) ? '＾' : '^'}`
}

const isWide = (character: string | undefined): boolean => character !== undefined && character.codePointAt(0)! > 0x7f
