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

/** A copy that shares nothing that can be changed. Values may be 10,000 deep, so that neither walk here recurses. */
export function copyValue<T extends Value>(value: T): T
export function copyValue(root: Value): Value {
  const open: [from: Value[] | ValueObject, to: Value[] | ValueObject][] = []
  const begin = (value: Value): Value => {
    if (!Array.isArray(value) && !isObject(value)) return value
    const copy = Array.isArray(value) ? [] : {}
    open.push([value, copy])
    return copy
  }
  const result = begin(root)
  for (let next = open.pop(); next; next = open.pop()) {
    const [from, to] = next
    if (Array.isArray(from)) for (const item of from) (to as Value[]).push(begin(item))
    else for (const key of Object.keys(from)) setOwn(to as ValueObject, key, begin(from[key]!))
  }
  return result
}

/** Equal in every part; the order of members does not count, and 1 is not 1.0. */
export function equalValues(a: Value | undefined, b: Value | undefined): boolean {
  const pairs: [Value | undefined, Value | undefined][] = [[a, b]]
  for (let pair = pairs.pop(); pair; pair = pairs.pop()) {
    const [left, right] = pair
    if (left === right) continue
    if (Array.isArray(left) && Array.isArray(right)) {
      if (left.length !== right.length) return false
      for (const [i, item] of left.entries()) pairs.push([item, right[i]])
    } else if (isObject(left) && isObject(right)) {
      const keys = Object.keys(left)
      if (keys.length !== Object.keys(right).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(right, key)) return false
        pairs.push([left[key], right[key]])
      }
    } else if (!(left instanceof WholeFloat && right instanceof WholeFloat && left.value === right.value)) return false
  }
  return true
}
