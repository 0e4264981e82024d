// What an API object is made of while someone looks inside: plain JSON values, with the two distinctions that
// Kubernetes keeps and JavaScript does not. An int64 beyond 2^53 is a bigint. A float64 that happens to be whole
// (`1.0`, `1e18`) is a `WholeFloat`; all other whole numbers are integers, as Go's decoder has it.
// Objects are ordinary ones whose keys come from users: look up with Object.hasOwn, write with `setOwn`.

export type Value = null | boolean | string | number | bigint | WholeFloat | Value[] | ValueObject

export interface ValueObject {
  [key: string]: Value
}

/** A float64 without a fraction. It prints as an integer, and is one when it is read back. */
export class WholeFloat {
  constructor(readonly value: number) {}
}

export const isObject = (value: Value | undefined): value is ValueObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof WholeFloat)

/** True for what Go would hold as an int64. */
export const isInteger = (value: Value | undefined): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))

/** True for what Go would hold as a float64. */
export const isFloat = (value: Value | undefined): value is number | WholeFloat =>
  value instanceof WholeFloat || (typeof value === 'number' && !Number.isInteger(value))

export const isNumber = (value: Value | undefined): value is number | bigint | WholeFloat =>
  typeof value === 'number' || typeof value === 'bigint' || value instanceof WholeFloat

/** The own member of that name, never an inherited one such as `constructor`. */
export const getOwn = (object: ValueObject, key: string): Value | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Sets a member by that name, `__proto__` included. */
export function setOwn(object: ValueObject, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else object[key] = value
}

/** A copy that shares nothing that can be changed. Depth is bounded where values are decoded. */
export function copyValue<T extends Value>(value: T): T
export function copyValue(value: Value): Value {
  if (Array.isArray(value)) return value.map(item => copyValue(item))
  if (!isObject(value)) return value
  const copy: ValueObject = {}
  for (const key of Object.keys(value)) setOwn(copy, key, copyValue(value[key]!))
  return copy
}

/** Equal in every part; the order of members does not count, and 1 is not 1.0. */
export function equalValues(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof WholeFloat || b instanceof WholeFloat) {
    return a instanceof WholeFloat && b instanceof WholeFloat && a.value === b.value
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equalValues(item, b[i]))
    )
  }
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && equalValues(a[key], b[key]))
  )
}
