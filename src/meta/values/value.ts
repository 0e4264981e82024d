// The values of API objects: JSON values with two distinctions of Kubernetes that JavaScript does not make. An int64
// beyond 2^53 is a bigint. A float64 without a fraction (`1.0`, `1e18`) is a `WholeFloat`; all other numbers without a
// fraction are integers, as in Go's decoder.
// Objects have keys from users: read with Object.hasOwn or `getOwn`, write with `setOwn`.

export type Value = null | boolean | string | number | bigint | WholeFloat | Value[] | ValueObject

export interface ValueObject {
  [key: string]: Value
}

/** A float64 without a fraction. It is printed as an integer, and decoded as one. */
export class WholeFloat {
  /** Not a property, so that equal numbers are equal however they were written. */
  readonly #literal: string | undefined

  constructor(
    readonly value: number,
    literal?: string,
  ) {
    this.#literal = literal
  }

  /** As the document has it, which messages quote; without a document, a form that is read as this float. */
  get literal(): string {
    if (this.#literal !== undefined) return this.#literal
    const text = String(this.value)
    return /e/.test(text) ? text.replace('e+', 'e') : Math.abs(this.value) < 2 ** 53 ? `${text}.0` : text
  }
}

export const isObject = (value: Value | undefined): value is ValueObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof WholeFloat)

/** True for values that Go decodes as int64. */
export const isInteger = (value: Value | undefined): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))

/** True for values that Go decodes as float64. */
export const isFloat = (value: Value | undefined): value is number | WholeFloat =>
  value instanceof WholeFloat || (typeof value === 'number' && !Number.isInteger(value))

export const isNumber = (value: Value | undefined): value is number | bigint | WholeFloat =>
  typeof value === 'number' || typeof value === 'bigint' || value instanceof WholeFloat

/** A number as the document spelled it, as far as the value preserves that. */
export const spellNumber = (value: number | bigint | WholeFloat): string =>
  value instanceof WholeFloat ? value.literal : String(value)

/** The own member with that name, never an inherited one such as `constructor`. */
export const getOwn = (object: ValueObject, key: string): Value | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Sets a member of any name, including `__proto__`. */
export function setOwn(object: ValueObject, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else object[key] = value
}

/** The member under which a decoded object remembers lists and maps that were given empty, see given-empty.ts. */
export const GIVEN_EMPTY: unique symbol = Symbol('fields that were given empty')

/** A deep copy. Values may be 10,000 deep, so that the copy of what lies deep does not recurse. */
export function copyValue<T extends Value>(value: T): T
export function copyValue(value: Value): Value {
  return copyNested(value, 0)
}

const MAX_RECURSION = 100

function copyNested(value: Value, depth: number): Value {
  if (typeof value !== 'object' || value === null || value instanceof WholeFloat) return value
  if (depth === MAX_RECURSION) return copyDeep(value)
  if (Array.isArray(value)) {
    const copy: Value[] = []
    for (const item of value) copy.push(copyNested(item, depth + 1))
    return copy
  }
  // This also copies the mark of what was given empty.
  const copy = { ...value }
  for (const key of Object.keys(copy)) {
    const member = copy[key]!
    if (typeof member === 'object' && member !== null) setOwn(copy, key, copyNested(member, depth + 1))
  }
  return copy
}

function copyDeep(root: Value): Value {
  const open: [from: Value[] | ValueObject, to: Value[] | ValueObject][] = []
  const begin = (value: Value): Value => {
    if (!Array.isArray(value) && !isObject(value)) return value
    const copy = Array.isArray(value) ? [] : { ...value }
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

/** Deep equality; the order of members does not matter, and 1 is not 1.0. */
export function equalValues(a: Value | undefined, b: Value | undefined): boolean {
  // Left and right in turns, without an array for each pair: objects of many values are compared at every write.
  const open: (Value | undefined)[] = [a, b]
  while (open.length > 0) {
    const right = open.pop()
    const left = open.pop()
    if (left === right) continue
    if (Array.isArray(left) && Array.isArray(right)) {
      if (left.length !== right.length) return false
      for (let i = 0; i < left.length; i++) {
        if (left[i] === right[i]) continue
        if (!mayBeEqual(left[i], right[i])) return false
        open.push(left[i], right[i])
      }
    } else if (isObject(left) && isObject(right)) {
      const keys = Object.keys(left)
      for (const key of keys) {
        if (left[key] === right[key] && Object.hasOwn(right, key)) continue
        if (!mayBeEqual(left[key], right[key]) || !Object.hasOwn(right, key)) return false
        open.push(left[key], right[key])
      }
      // Last, since it takes as long as the rest if there are many, and most objects that differ do so in a member.
      if (keys.length !== Object.keys(right).length) return false
    } else if (!(left instanceof WholeFloat && right instanceof WholeFloat && left.value === right.value)) return false
  }
  return true
}

/** Of two values that are not the same: scalars are different then, whereas lists and objects must be compared. */
const mayBeEqual = (a: Value | undefined, b: Value | undefined): boolean =>
  typeof a === 'object' && typeof b === 'object' && a !== null && b !== null
