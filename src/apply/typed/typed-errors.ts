// What is wrong with a value as one of its type, in the words in which clients are told. They show values as Go prints
// the structs that hold them.
import { compareTexts, goTypeOf, printNumber, printPlain, quote } from '../../meta/go/go-text.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'

/** Deeper than any object that someone would write, and well within what the walks here can recurse. */
export const MAX_DEPTH = 1000

export interface TypedFault {
  /** `.spec.items[name="a"]`, or empty for the object itself. */
  readonly path: string
  readonly message: string
}

/** The faults of one value; not yet an answer, which also says what the value was to be. */
export class TypedError extends Error {
  constructor(readonly errors: readonly TypedFault[]) {
    super(printErrors(errors))
  }
}

export function printErrors(errors: readonly TypedFault[]): string {
  const lines = errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return lines.length === 1 ? lines[0]! : ['errors:', ...lines.map(line => `  ${line}`)].join('\n')
}

export const error = (message: string): TypedFault => ({ path: '', message })

export const wrongForm = (expected: 'list' | 'map' | 'boolean' | 'any scalar', value: Value): TypedFault =>
  error(`expected ${expected}, got &{${printPlain(value)}}`)

export const noString = (value: Value): TypedFault =>
  error(`expected string, got &value.valueUnstructured{Value:${printGoSyntax(value)}}`)

export const noNumber = (value: Value): TypedFault => error(`expected numeric (int or float), got ${goTypeOf(value)}`)

export const undeclared = (): TypedFault => error('field not declared in schema')

export const tooDeep = (): TypedFault => error(`nested more than ${MAX_DEPTH} deep`)

/** Go's %#v. */
function printGoSyntax(value: Value): string {
  if (value === null) return 'interface {}(nil)'
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(printGoSyntax).join(', ')}}`
  if (isObject(value)) {
    const members = membersOf(value, (name, member) => `${quote(name)}:${printGoSyntax(member)}`, ', ')
    return `map[string]interface {}{${members}}`
  }
  return typeof value === 'boolean' ? String(value) : printNumber(value)
}

const membersOf = (object: ValueObject, print: (name: string, member: Value) => string, between: string): string =>
  Object.keys(object)
    .toSorted(compareTexts)
    .map(name => print(name, object[name]!))
    .join(between)
