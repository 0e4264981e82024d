// Where in a document a position of the text is, by indentation alone: while one types, the text is rarely valid YAML.
import type { PathPart } from './yaml-document.js'

export interface CursorContext {
  /** The path of the mapping or value that holds the position. */
  readonly path: readonly PathPart[]
  /** A key is being written, with this much of it; or a value, of the last part of the path. */
  readonly writing: 'key' | 'value'
  readonly typed: string
  /** The column where the typed part starts. */
  readonly from: number
  /** Other keys of the same mapping. */
  readonly siblings: ReadonlySet<string>
}

interface Line {
  readonly indent: number
  /** Columns of the dashes of list items that start on this line. */
  readonly dashes: readonly number[]
  readonly key: string | undefined
  readonly isBlank: boolean
}

/** `line` counts from 0. */
export function contextAt(lines: readonly string[], line: number, column: number): CursorContext {
  const text = lines[line] ?? ''
  const before = text.slice(0, column)
  const value = /^(\s*(?:- +)*)("[^"]*"|'[^']*'|[^\s#:'"-][^#]*?|-[^\s#][^#]*?):\s+(.*)$/.exec(before)
  const { dashes, indent } = readLine(text.trim() === '' ? `${before}x` : text)
  if (value) {
    const typed = value[3]!
    const path = [...containerOf(lines, line, indent, dashes), unquote(value[2]!)]
    return { path, writing: 'value', typed, from: column - typed.length, siblings: new Set() }
  }
  const start = /^\s*(?:- +)*/.exec(before)![0].length
  const typed = before.slice(start)
  const path = containerOf(lines, line, indent, dashes)
  return { path, writing: 'key', typed, from: start, siblings: siblingsOf(lines, line, indent) }
}

/** The path of the mapping that a key at this indentation belongs to. */
function containerOf(lines: readonly string[], line: number, indent: number, dashes: readonly number[]): PathPart[] {
  const parts: PathPart[] = []
  let below = indent
  const enter = (columns: readonly number[], at: number): void => {
    for (const dash of columns.toReversed()) {
      if (dash >= below) continue
      parts.unshift(itemIndex(lines, at, dash))
      below = dash
    }
  }
  enter(dashes, line)
  for (let i = line - 1; i >= 0 && below >= 0; i--) {
    const each = readLine(lines[i]!)
    if (each.isBlank) continue
    // A list may stand at the indentation of its key.
    const isParent =
      each.indent < below || (each.indent === below && typeof parts[0] === 'number' && each.key !== undefined)
    if (isParent && each.key !== undefined && !(each.indent === below && each.dashes.length > 0)) {
      if (each.indent <= below && !(typeof parts[0] !== 'number' && each.indent === below)) {
        parts.unshift(each.key)
        below = each.indent
      }
    }
    enter(each.dashes, i)
    if (below === 0 && typeof parts[0] === 'string') break
  }
  return parts
}

/** How many items with a dash at this column come before. */
function itemIndex(lines: readonly string[], line: number, dash: number): number {
  let index = 0
  for (let i = line - 1; i >= 0; i--) {
    const each = readLine(lines[i]!)
    if (each.isBlank) continue
    if (each.dashes.includes(dash)) index++
    else if (each.indent <= dash) break
  }
  return index
}

function siblingsOf(lines: readonly string[], line: number, indent: number): ReadonlySet<string> {
  const found = new Set<string>()
  const collect = (from: number, step: number): void => {
    for (let i = from; i >= 0 && i < lines.length; i += step) {
      const each = readLine(lines[i]!)
      if (each.isBlank) continue
      if (each.indent < indent || (step > 0 && each.dashes.length > 0 && each.indent <= indent)) break
      if (each.indent === indent && each.key !== undefined) found.add(each.key)
      if (step < 0 && each.dashes.length > 0 && each.indent === indent) break
    }
  }
  if (readLine(`${lines[line]}x`).dashes.length === 0) collect(line - 1, -1)
  collect(line + 1, 1)
  return found
}

function readLine(text: string): Line {
  const dashes: number[] = []
  let at = /^ */.exec(text)![0].length
  while (text[at] === '-' && (text[at + 1] === ' ' || at + 1 === text.length)) {
    dashes.push(at)
    at++
    while (text[at] === ' ') at++
  }
  const rest = text.slice(at)
  const key = /^("[^"]*"|'[^']*'|[^\s#:'"][^#]*?):(?:\s|$)/.exec(rest)?.[1]
  return {
    indent: at,
    dashes,
    key: key === undefined ? undefined : unquote(key),
    isBlank: rest === '' || rest.startsWith('#'),
  }
}

const unquote = (text: string): string => text.replaceAll(/^["']|["']$/g, '')
