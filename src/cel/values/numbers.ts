// The three kinds of number. An int is a JavaScript number while that is exact and a bigint beyond, never both for one
// value; a uint and a double are wrapped, so that the three stay apart. Most rules count and compare small ints,
// which therefore cost no allocation.
import { CelError } from '../cel-error.js'

export type Int = number | bigint

export class Uint {
  constructor(readonly value: bigint) {}
}

export class Double {
  constructor(readonly value: number) {}
}

export const MAX_INT = 2n ** 63n - 1n
export const MIN_INT = -(2n ** 63n)
export const MAX_UINT = 2n ** 64n - 1n

export const INT_OVERFLOW = new CelError('integer overflow')
export const UINT_OVERFLOW = new CelError('unsigned integer overflow')
export const DIVISION_BY_ZERO = new CelError('division by zero')
export const MODULUS_BY_ZERO = new CelError('modulus by zero')

/** The one form of an int. The value must be within 64 bits. */
export const intOf = (value: bigint): Int => (value >= MIN_SAFE && value <= MAX_SAFE ? Number(value) : value)

/** An int, or the error of not being one in 64 bits. */
export const checkedInt = (value: bigint): Int | CelError =>
  value > MAX_INT || value < MIN_INT ? INT_OVERFLOW : intOf(value)

export const checkedUint = (value: bigint): Uint | CelError =>
  value > MAX_UINT || value < 0n ? UINT_OVERFLOW : new Uint(value)

export const isInt = (value: unknown): value is Int => typeof value === 'number' || typeof value === 'bigint'

export function addInts(a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return checkedInt(BigInt(a) + BigInt(b))
}

export function subtractInts(a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (Number.isSafeInteger(difference)) return difference
  }
  return checkedInt(BigInt(a) - BigInt(b))
}

export function multiplyInts(a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    // Adding 0 turns -0 into 0: an int has no sign of its own at zero.
    if (Number.isSafeInteger(product)) return product + 0
  }
  return checkedInt(BigInt(a) * BigInt(b))
}

export function divideInts(a: Int, b: Int): Int | CelError {
  if (b === 0) return DIVISION_BY_ZERO
  if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0
  return checkedInt(BigInt(a) / BigInt(b))
}

export function moduloInts(a: Int, b: Int): Int | CelError {
  if (b === 0) return MODULUS_BY_ZERO
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0
  // The quotient of this one pair is out of range, and cel-go computes it along with the remainder.
  if (a === MIN_INT && b === -1) return INT_OVERFLOW
  return intOf(BigInt(a) % BigInt(b))
}

export const negateInt = (a: Int): Int | CelError => (typeof a === 'number' ? 0 - a : checkedInt(-a))

/** Negative, 0 or positive; JavaScript compares numbers with bigints exactly. */
export const compareNumbers = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** A double cut to an int, or the error of being out of range. */
export const doubleToInt = (value: number): Int | CelError =>
  // Both bounds are excluded: near them a double is too coarse to decide.
  value > -(2 ** 63) && value < 2 ** 63 ? intOf(BigInt(Math.trunc(value))) : INT_OVERFLOW

export const doubleToUint = (value: number): Uint | CelError =>
  value >= 0 && value < 2 ** 64 ? new Uint(BigInt(Math.trunc(value))) : UINT_OVERFLOW

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const MIN_SAFE = BigInt(Number.MIN_SAFE_INTEGER)
