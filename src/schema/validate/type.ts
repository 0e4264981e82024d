// Whether a value has the type that its schema names, with what a format adds to that: a value of another type than
// text beside a format is reported with Go's names of number formats.
import { fieldTypeInvalid } from '../../meta/errors/field-errors.js'
import { isInteger, isObject, type Value, WholeFloat } from '../../meta/values/value.js'
import type { Schema } from '../structure/structural.js'
import { fieldOf, type Run, relativePath, report } from './run.js'

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

export function jsonTypeOf(value: Value): JsonType {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'bigint':
      return 'integer'
    case 'number':
      return isInteger(value) ? 'integer' : 'number'
    default:
      if (value === null) return 'null'
      if (Array.isArray(value)) return 'array'
      return value instanceof WholeFloat ? 'number' : 'object'
  }
}

/** The types a schema allows. An int-or-string allows two, whatever its type. */
export const typesOf = ({ type, extensions }: Schema): readonly string[] => {
  if (extensions.intOrString) return ['integer', 'string']
  return type === '' ? [] : [type]
}

/** Whether a value plainly has one of these types. Those that do not may still pass `checkType`. */
export function quickTypeCheck(types: readonly string[]): (value: Value) => boolean {
  if (types.length === 2) return value => typeof value === 'string' || (typeof value === 'number' && value % 1 === 0)
  switch (types[0]) {
    case 'string':
      return value => typeof value === 'string'
    case 'boolean':
      return value => typeof value === 'boolean'
    case 'integer':
      return value => typeof value === 'number' && value % 1 === 0
    case 'number':
      return value => typeof value === 'number'
    case 'array':
      return value => Array.isArray(value)
    case 'object':
      return value => isObject(value)
    default:
      return () => false
  }
}

/** True if the value has one of the types; otherwise the error has been reported. */
export function checkType(
  run: Run,
  value: Value,
  types: readonly string[],
  format: string,
  nullable: boolean,
): boolean {
  const type = jsonTypeOf(value)
  if (type === 'null') {
    if (types.length === 0 || nullable) return true
    return mismatch(run, types.join(','), 'null')
  }
  const fits = types.includes(type) || (type === 'integer' && types.includes('number')) || isWholeFor(value, types)
  if (format === '') return fits || mismatch(run, types.join(','), type)
  if (type === 'string' || type === 'array') {
    // Beside a format, texts are left to the format, and lists are not checked.
    const numeric = types.includes('number') || types.includes('integer')
    return !numeric || fits || mismatch(run, types.join(','), type)
  }
  const goFormat = type === 'integer' ? 'int64' : type === 'number' ? 'float64' : ''
  if (!fits && goFormat !== format) return mismatch(run, format, goFormat)
  return fits || mismatch(run, types.join(','), type)
}

/** A float without a fraction is an integer as long as floats can count. */
const isWholeFor = (value: Value, types: readonly string[]): boolean =>
  types.includes('integer') && (value instanceof WholeFloat || typeof value === 'number') && isJsonInteger(value)

/** The largest number up to which floats count every integer. */
const MAX = 2 ** 53 - 1
const TOLERANCE = 1e-9

/** Whether a float64 passes for an integer: within the safe range, and (if positive) up to a relative error of 1e-9. */
export function isJsonInteger(value: number | WholeFloat): boolean {
  const number = value instanceof WholeFloat ? value.value : value
  if (!(number >= -MAX && number <= MAX)) return false
  if (Number.isInteger(number)) return true
  const whole = Math.trunc(number)
  if (number < 0 || whole === 0) return false
  return Math.abs(number - whole) / (number + whole) < TOLERANCE
}

function mismatch(run: Run, expected: string, actual: string): false {
  const path = relativePath(run)
  report(run, fieldTypeInvalid(fieldOf(run, path), actual, `${path} in body must be of type ${expected}: "${actual}"`))
  return false
}
