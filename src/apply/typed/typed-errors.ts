// Errors of values that are not of their type, with kube-apiserver's messages, which print values as Go prints the
// structs that hold them.
import { compareTexts, goTypeOf, MAX_PRINTED_DEPTH, printNumber, printPlain, quote } from '../../meta/go/go-text.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'

/** Deeper than any real object, and well within the recursion limit of the walks here. */
export const MAX_DEPTH = 1000

export interface TypeMismatch {
  /** `.spec.items[name="a"]`, or empty for the object itself. */
  readonly path: string
  readonly message: string
}

/** The errors of one value. The caller adds which object it is. */
export class TypedError extends Error {
  constructor(readonly errors: readonly TypeMismatch[]) {
    super(printErrors(errors))
  }
}

export function printErrors(errors: readonly TypeMismatch[]): string {
  const lines = errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return lines.length === 1 ? lines[0]! : ['errors:', ...lines.map(line => `  ${line}`)].join('\n')
}

export const error = (message: string): TypeMismatch => ({ path: '', message })

export const wrongShape = (expected: 'list' | 'map' | 'boolean' | 'any scalar', value: Value): TypeMismatch =>
  error(`expected ${expected}, got &{${printPlain(value)}}`)

export const noString = (value: Value): TypeMismatch =>
  error(`expected string, got &value.valueUnstructured{Value:${printGoSyntax(value)}}`)

export const noNumber = (value: Value): TypeMismatch => error(`expected numeric (int or float), got ${goTypeOf(value)}`)

export const undeclared = (): TypeMismatch => error('field not declared in schema')

export const tooDeep = (): TypeMismatch => error(`nested more than ${MAX_DEPTH} deep`)

/** Go's %#v. A value may be nested more deeply than a recursion may go. */
function printGoSyntax(value: Value, depth = 0): string {
  if (depth > MAX_PRINTED_DEPTH) return '...'
  if (value === null) return 'interface {}(nil)'
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(item => printGoSyntax(item, depth + 1)).join(', ')}}`
  if (isObject(value)) {
    const members = membersOf(value, (name, member) => `${quote(name)}:${printGoSyntax(member, depth + 1)}`, ', ')
    return `map[string]interface {}{${members}}`
  }
  return typeof value === 'boolean' ? String(value) : printNumber(value)
}

const membersOf = (object: ValueObject, print: (name: string, member: Value) => string, between: string): string =>
  Object.keys(object)
    .toSorted(compareTexts)
    .map(name => print(name, object[name]!))
    .join(between)
