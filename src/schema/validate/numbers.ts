// Bounds of numbers. Bounds are floats; an integer is compared with their whole part, and a bound that is no integer
// itself cannot stand beside `type: integer`, so that every value fails there. All as in kube-apiserver.
import { fieldInvalid } from '../../meta/errors/field-errors.js'
import { MAX_INT64, printFloat } from '../../meta/go/go-text.js'
import { isInteger, type Value, WholeFloat } from '../../meta/values/value.js'
import type { ValueChecks } from '../structure/structural.js'
import { fieldOf, type Run, relativePath, report, reportBare } from './run.js'
import { isJsonInteger } from './type.js'

export type NumberValue = number | bigint | WholeFloat

export type NumberCheck = (run: Run, value: NumberValue) => void

/** `type` is the only type of the schema, or empty. Undefined where every number will do. */
export function numberCheck(type: string, checks: ValueChecks): NumberCheck | undefined {
  const { format, multipleOf, maximum, minimum } = checks
  const isBare = format === '' && multipleOf === undefined && maximum === undefined && minimum === undefined
  if (isBare && type !== 'integer') return undefined
  const passes = quickCheck(type, checks)
  return (run, value) => {
    if (typeof value === 'number' && passes(value)) return
    fitsRange(run, value, type, format, 'Checked')
    // Bounds are checked even if a value is out of range of its format.
    if (multipleOf !== undefined) {
      const native = fitsRange(run, fromFloat(multipleOf), type, format, 'MultipleOf')
      checkMultiple(run, value, multipleOf, native && isInteger(value))
    }
    if (maximum !== undefined) {
      const native = fitsRange(run, fromFloat(maximum), type, format, 'Maximum boundary')
      checkBound(run, value, maximum, checks.exclusiveMaximum, native && isInteger(value), 'less')
    }
    if (minimum !== undefined) {
      const native = fitsRange(run, fromFloat(minimum), type, format, 'Minimum boundary')
      checkBound(run, value, minimum, checks.exclusiveMinimum, native && isInteger(value), 'greater')
    }
  }
}

/** True for numbers of which it is plain that nothing is wrong: small integers within whole bounds. */
function quickCheck(type: string, checks: ValueChecks): (value: number) => boolean {
  const { format, multipleOf, maximum, minimum } = checks
  const bounds = [multipleOf ?? 1, maximum ?? 0, minimum ?? 0]
  if (!bounds.every(bound => Number.isSafeInteger(bound) && fitsInteger(bound, format))) return () => false
  if ((format !== '' && type === 'integer' && format.startsWith('u')) || bounds[0]! <= 0) return () => false
  const limit = format === 'int32' ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER
  const max = Math.min(maximum === undefined ? limit : maximum - (checks.exclusiveMaximum ? 1 : 0), limit)
  const least = Math.max(minimum === undefined ? -limit : minimum + (checks.exclusiveMinimum ? 1 : 0), -limit)
  const factor = multipleOf ?? 1
  return value => Number.isSafeInteger(value) && value <= max && value >= least && value % factor === 0
}

function fitsRange(run: Run, value: NumberValue, type: string, format: string, what: string): boolean {
  const fits = type === 'integer' ? fitsInteger(value, format) : fitsFloat(value, format)
  if (fits) return true
  const kind = format === '' ? `${type} (default format)` : `${type} with format ${format}`
  reportBare(run, `${what} value must be of type ${kind} in ${relativePath(run)}`)
  return false
}

function fitsInteger(value: NumberValue, format: string): boolean {
  const number = value instanceof WholeFloat ? value.value : value
  if (typeof number === 'number' && (!Number.isInteger(number) || Math.abs(number) >= 1e21)) return false
  // A float is read as the shortest text that stands for it, which for -2^63 is just too small.
  const integer = BigInt(String(number))
  if (format === 'int32') return BigInt.asIntN(32, integer) === integer
  if (format === 'uint32') return BigInt.asUintN(32, integer) === integer
  if (format === 'uint64') return BigInt.asUintN(64, integer) === integer
  return BigInt.asIntN(64, integer) === integer
}

const MAX_FLOAT32 = 3.4028235677973366e38

function fitsFloat(value: NumberValue, format: string): boolean {
  if (format !== 'float' && format !== 'float32') return true
  return Math.abs(asFloat(value)) < MAX_FLOAT32
}

function checkMultiple(run: Run, value: NumberValue, factor: number, native: boolean): void {
  const path = relativePath(run)
  if (native) {
    const divisor = truncated(factor)
    const number = BigInt(value as number | bigint)
    if (divisor <= 0n) notPositive(run, path, plainInteger(divisor))
    else if (number % divisor !== 0n) notMultiple(run, path, value, String(divisor))
    return
  }
  if (factor <= 0) return notPositive(run, path, fromFloat(factor))
  const float = asFloat(value)
  const quotient = factor < 1 ? (1 / factor) * float : float / factor
  if (!isJsonInteger(quotient)) notMultiple(run, path, fromFloat(float), printFloat(factor))
}

const notPositive = (run: Run, path: string, factor: NumberValue): void =>
  report(
    run,
    fieldInvalid(
      fieldOf(run, path),
      factor,
      `factor MultipleOf declared for ${path} must be positive: ${printValue(factor)}`,
    ),
  )

const notMultiple = (run: Run, path: string, value: NumberValue, factor: string): void =>
  report(run, fieldInvalid(fieldOf(run, path), value, `${path} in body should be a multiple of ${factor}`))

function checkBound(
  run: Run,
  value: NumberValue,
  bound: number,
  exclusive: boolean,
  native: boolean,
  side: 'less' | 'greater',
): void {
  const limit: number | bigint = native ? truncated(bound) : bound
  const number: number | bigint = native ? (value as number | bigint) : asFloat(value)
  const holds =
    side === 'less' ? (exclusive ? number < limit : number <= limit) : exclusive ? number > limit : number >= limit
  if (holds) return
  const path = relativePath(run)
  const relation = exclusive ? `${side} than` : `${side} than or equal to`
  const printed = native ? String(limit) : printFloat(bound)
  const shown = native ? value : fromFloat(asFloat(value))
  report(run, fieldInvalid(fieldOf(run, path), shown, `${path} in body should be ${relation} ${printed}`))
}

/** A float as an int64: its whole part, or the smallest int64 if it is beyond. */
function truncated(float: number): bigint {
  const whole = Math.trunc(float)
  return Math.abs(whole) < 2 ** 63 ? BigInt(whole) : -MAX_INT64 - 1n
}

const plainInteger = (value: bigint): number | bigint => (Number.isSafeInteger(Number(value)) ? Number(value) : value)

const asFloat = (value: NumberValue): number => (value instanceof WholeFloat ? value.value : Number(value))

/** A float64 of Go as a value. */
const fromFloat = (float: number): number | WholeFloat => (Number.isInteger(float) ? new WholeFloat(float) : float)

const printValue = (value: NumberValue): string =>
  value instanceof WholeFloat
    ? printFloat(value.value)
    : typeof value === 'number' && !Number.isInteger(value)
      ? printFloat(value)
      : String(value)

export const isNumberValue = (value: Value): value is NumberValue =>
  typeof value === 'number' || typeof value === 'bigint' || value instanceof WholeFloat
