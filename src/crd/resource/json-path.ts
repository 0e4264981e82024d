// JSONPath as kubectl and printer columns know it: `.spec.ports[0].name`, `..name`, `[?(@.type=="Ready")].status`.
// A path is read into steps once; walking it gives every value that it leads to, in order. A path that leads nowhere
// gives nothing; a path that does not fit the value, such as the first item of a text, throws.

import { failed, parsed, type Result } from '../../base/result.js'
import { compareTexts } from '../../meta/go/go-text.js'
import { isFloat, isInteger, isObject, type Value, WholeFloat } from '../../meta/values/value.js'

/** All values that the path leads to from an object. Throws a `PathError` where it cannot be walked. */
export type JsonPath = (root: Value) => Value[]

export class PathError extends Error {}

/** Parses the path of a column: a JSONPath template without its braces. */
export function parseJsonPath(path: string): Result<JsonPath> {
  try {
    const steps = readTemplate(`{${path}}`)
    return parsed(root => walk(steps, [root]))
  } catch (error) {
    if (error instanceof PathError) return failed(error.message)
    throw error
  }
}

type Step =
  | { readonly is: 'field'; readonly name: string }
  | {
      readonly is: 'slice'
      readonly from?: number
      readonly to?: number
      readonly step?: number
      readonly single: boolean
    }
  | { readonly is: 'union'; readonly of: readonly (readonly Step[])[] }
  | {
      readonly is: 'filter'
      readonly left: readonly Step[]
      readonly operator: string
      readonly right: readonly Step[]
    }
  | { readonly is: 'literal'; readonly value: Value }
  | { readonly is: 'every' | 'recursive' }
  | { readonly is: 'unknown'; readonly word: string }

// ---- reading

/** Only the first action of a template counts; the rest must be readable all the same. */
function readTemplate(text: string): Step[] {
  const reader: Reader = { text, at: 0 }
  let first: Step[] | undefined
  for (;;) {
    const open = text.indexOf('{', reader.at)
    if (open < 0) break
    // Text in front of an action is a result of its own.
    if (open > reader.at) first ??= [{ is: 'literal', value: text.slice(reader.at, open) }]
    reader.at = open + 1
    const steps = readAction(reader)
    first ??= steps
  }
  return first ?? []
}

interface Reader {
  readonly text: string
  at: number
}

function readAction(reader: Reader): Step[] {
  const { text } = reader
  const steps: Step[] = []
  for (;;) {
    if (text.startsWith('}', reader.at)) {
      reader.at++
      return steps
    }
    if (text.startsWith('[?(', reader.at)) {
      steps.push(readFilter(reader))
      continue
    }
    if (text.startsWith('..', reader.at)) {
      if (steps.at(-1)?.is === 'recursive') throw new PathError('invalid multiple recursive descent')
      reader.at += 2
      steps.push({ is: 'recursive' })
      if (/^[\p{L}\p{Nd}_]/u.test(text.slice(reader.at, reader.at + 2))) steps.push(readField(reader))
      continue
    }
    const character = String.fromCodePoint(text.codePointAt(reader.at) ?? 0)
    if (reader.at >= text.length || character === '\n' || character === '\r') throw new PathError('unclosed action')
    if (character === ' ' || character === '@' || character === '$') reader.at++
    else if (character === '[') steps.push(...readBrackets(reader))
    else if (character === '"' || character === "'") steps.push(readQuoted(reader, character))
    else if (character === '.') {
      reader.at++
      steps.push(readField(reader))
    } else if (/[+\-\p{Nd}]/u.test(character)) steps.push(readNumber(reader))
    else if (/[\p{L}_]/u.test(character)) steps.push(readWord(reader))
    else throw new PathError(`unrecognized character in action: ${character}`)
  }
}

const TERMINATORS = /[\s.,[\]$@{}]/

function readField(reader: Reader): Step {
  const { text } = reader
  const start = reader.at
  while (reader.at < text.length && !TERMINATORS.test(text[reader.at]!)) reader.at += text[reader.at] === '\\' ? 2 : 1
  reader.at = Math.min(reader.at, text.length)
  const name = text.slice(start, reader.at)
  return name === '*' ? { is: 'every' } : { is: 'field', name: name.replaceAll('\\', '') }
}

function readWord(reader: Reader): Step {
  const { text } = reader
  const start = reader.at
  while (reader.at < text.length && !TERMINATORS.test(text[reader.at]!)) reader.at++
  const word = text.slice(start, reader.at)
  if (word === 'true' || word === 'false') return { is: 'literal', value: word === 'true' }
  return { is: 'unknown', word }
}

function readNumber(reader: Reader): Step {
  const [digits = ''] = /^[+-]?[0-9.]*/.exec(reader.text.slice(reader.at)) ?? []
  reader.at += digits.length
  if (/^[+-]?[0-9]+$/.test(digits)) return { is: 'literal', value: Number(digits) }
  if (!/^[+-]?([0-9]+\.[0-9]*|\.[0-9]+)$/.test(digits)) throw new PathError(`cannot parse number ${digits}`)
  const value = Number(digits)
  return { is: 'literal', value: Number.isInteger(value) ? new WholeFloat(value) : value }
}

function readQuoted(reader: Reader, mark: string): Step {
  const { text } = reader
  let end = reader.at
  do {
    end++
    if (end >= text.length || text[end] === '\n') throw new PathError('unterminated quoted string')
  } while (text[end] !== mark || text[end - 1] === '\\')
  const inside = text.slice(reader.at + 1, end)
  reader.at = end + 1
  return { is: 'literal', value: inside.replace(/\\(.)/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped) }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

function readBrackets(reader: Reader): Step[] {
  const { text } = reader
  const end = text.indexOf(']', reader.at)
  if (end < 0 || text.slice(reader.at, end).includes('\n')) throw new PathError('unterminated array')
  const inside = text.slice(reader.at + 1, end)
  reader.at = end + 1
  const parts = inside.split(',')
  if (parts.length > 1) return [{ is: 'union', of: parts.map(part => readPart(`[${part.trim()}]`)) }]
  const [, key] = /^'([^']*)'$/.exec(inside) ?? []
  if (key !== undefined) return readPart(`.${key}`)
  return [readSlice(inside === '*' ? ':' : inside)]
}

function readSlice(text: string): Step {
  const [whole, from = '', to, step] = /^(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$/.exec(text) ?? []
  if (whole === undefined) throw new PathError(`invalid array index ${text}`)
  const number = (digits: string | undefined): number | undefined => {
    if (digits === undefined || digits === '' || digits === ':') return undefined
    const value = Number(digits.replace(':', ''))
    if (!Number.isSafeInteger(value)) throw new PathError(`array index ${digits} is not a number`)
    return value
  }
  const known = { from: number(from), to: number(to), step: number(step) }
  return {
    is: 'slice',
    single: to === undefined,
    ...(known.from !== undefined && { from: known.from }),
    ...(known.to !== undefined && { to: known.to }),
    ...(known.step !== undefined && { step: known.step }),
  }
}

function readFilter(reader: Reader): Step {
  const { text } = reader
  const start = reader.at + 3
  let mark = ''
  let closed = false
  let at = start
  for (; ; at++) {
    const character = text[at]
    if (character === undefined || character === '\n') throw new PathError('unterminated filter')
    if (character === '"' || character === "'") {
      if (mark === '') mark = character
      else if (character === mark && text[at - 1] !== '\\') closed = true
    } else if (character === ')' && (mark !== '') === closed) break
  }
  if (text[at + 1] !== ']') throw new PathError('unclosed array expect ]')
  reader.at = at + 2
  const [, left, operator, right] = /^([^!<>=]+)([!<>=]+)(.+?)$/s.exec(text.slice(start, at)) ?? []
  if (left === undefined) return { is: 'filter', left: readPart(text.slice(start, at)), operator: 'exists', right: [] }
  return { is: 'filter', left: readPart(left), operator: operator!, right: readPart(right!) }
}

const readPart = (text: string): Step[] => readTemplate(`{${text}}`)

// ---- walking

function walk(steps: readonly Step[], from: Value[]): Value[] {
  let values = from
  for (const step of steps) values = take(step, values)
  return values
}

function take(step: Step, values: Value[]): Value[] {
  switch (step.is) {
    case 'field':
      return values.flatMap(value => (isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]!] : []))
    case 'slice':
      return takeSlice(step, values)
    case 'union':
      return step.of.flatMap(part => walk(part, values))
    case 'filter':
      return takeFiltered(step, values)
    case 'literal':
      return [step.value]
    case 'every':
      return values.flatMap(value => (Array.isArray(value) || isObject(value) ? childrenOf(value) : []))
    case 'recursive':
      return values.flatMap(takeAllBelow)
    case 'unknown':
      throw new PathError(`unrecognized identifier ${step.word}`)
  }
}

const childrenOf = (value: Value): Value[] => {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return []
  return Object.keys(value)
    .toSorted(compareTexts)
    .map(key => value[key]!)
}

/** The value itself and all below it that hold something. Texts hold their characters. May be of any depth. */
function takeAllBelow(root: Value): Value[] {
  const found: Value[] = []
  const open: Value[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const children = childrenOf(value)
    if (children.length > 0 || (typeof value === 'string' && value !== '')) found.push(value)
    for (let i = children.length - 1; i >= 0; i--) open.push(children[i]!)
  }
  return found
}

function takeSlice(slice: Step & { is: 'slice' }, values: readonly Value[]): Value[] {
  const found: Value[] = []
  for (const value of values) {
    if (value === null) continue
    if (!Array.isArray(value)) throw new PathError('not an array')
    const { length } = value
    let from = slice.from ?? 0
    let to = slice.to ?? (slice.single ? from + 1 : length)
    if (from < 0) from += length
    if (to < 0 || (to === 0 && slice.single)) to += length
    if (from === to) return found
    const isOutside = from < 0 || from >= length || to < 0 || to > length || from > to
    if (isOutside) throw new PathError('array index out of bounds')
    const step = slice.step ?? 1
    if (step <= 0) throw new PathError('step must be > 0')
    for (let i = from; i < to; i += step) found.push(value[i]!)
  }
  return found
}

function takeFiltered({ left, operator, right }: Step & { is: 'filter' }, values: readonly Value[]): Value[] {
  const found: Value[] = []
  for (const value of values) {
    if (!Array.isArray(value)) throw new PathError('not an array, and cannot be filtered')
    for (const item of value) {
      if (operator === 'exists' ? exists(left, item) : holds(walk(left, [item]), operator, walk(right, [item]))) {
        found.push(item)
      }
    }
  }
  return found
}

function exists(steps: readonly Step[], item: Value): boolean {
  try {
    return walk(steps, [item]).length > 0
  } catch (error) {
    if (error instanceof PathError) return true
    throw error
  }
}

function holds(lefts: readonly Value[], operator: string, authorizer: readonly Value[]): boolean {
  if (lefts.length === 0 || authorizer.length === 0) return false
  if (lefts.length > 1 || authorizer.length > 1) throw new PathError('can only compare one element at a time')
  const order = compare(lefts[0]!, authorizer[0]!)
  switch (operator) {
    case '==':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return ordered(order) < 0
    case '>':
      return ordered(order) > 0
    case '<=':
      return ordered(order) <= 0
    case '>=':
      return ordered(order) >= 0
    default:
      throw new PathError(`unrecognized filter operator ${operator}`)
  }
}

/** NaN for values that are different but have no order. */
function compare(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right)
  if (typeof left === 'boolean' && typeof right === 'boolean') return left === right ? 0 : Number.NaN
  if (isInteger(left) && isInteger(right)) return left < right ? -1 : left > right ? 1 : 0
  if (isFloat(left) && isFloat(right)) return floatOf(left) - floatOf(right)
  throw new PathError('incompatible types for comparison')
}

const floatOf = (value: number | WholeFloat): number => (value instanceof WholeFloat ? value.value : value)

function ordered(order: number): number {
  if (Number.isNaN(order)) throw new PathError('invalid type for comparison')
  return order
}
