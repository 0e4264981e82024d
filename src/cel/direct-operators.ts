// Operators on operands whose types leave nothing to find out: most of what rules do.
import type { CelType } from './cel-type.js'
import type { Overload } from './environment.js'
import { addInts, type Int, multiplyInts, subtractInts } from './numbers.js'
import type { Value } from './values.js'

export type Binary = (a: Value, b: Value) => Value

const DIRECT: Readonly<Record<string, (a: never, b: never) => Value>> = {
  less_int64: (a: Int, b: Int) => a < b,
  less_equals_int64: (a: Int, b: Int) => a <= b,
  greater_int64: (a: Int, b: Int) => a > b,
  greater_equals_int64: (a: Int, b: Int) => a >= b,
  add_int64: addInts,
  subtract_int64: subtractInts,
  multiply_int64: multiplyInts,
}

/** A plain operation that costs 1 and stands for the overload, if there is one for operands of these types. */
export function directOperator({ id }: Overload, [a, b]: readonly (CelType | undefined)[]): Binary | undefined {
  if (a?.nullable === true || b?.nullable === true || a?.kind !== b?.kind) return undefined
  const scalar = a?.kind === 'int' || a?.kind === 'bool'
  // An int has one form only, so that equal ones are the same.
  if (id === 'equals') return scalar ? (x, y) => x === y : undefined
  if (id === 'not_equals') return scalar ? (x, y) => x !== y : undefined
  return Object.hasOwn(DIRECT, id) && a?.kind === 'int' ? (DIRECT[id] as Binary) : undefined
}
