// The most frequent operations, for operands whose types are known before evaluation: without checking types, without
// an array for the arguments, and at the same cost.
import type { CelType, TypeKind } from '../check/cel-type.js'
import { STRING_TRAVERSAL } from '../cost/cost-intervals.js'
import type { WorkBudget } from '../cost/work-budget.js'
import type { Overload } from '../environment.js'
import { addInts, type Int, multiplyInts, subtractInts } from '../values/numbers.js'
import type { Value } from '../values/values.js'

/** Whether a value has its declared type: hosts may have a null where a text was declared. */
type Fits = (value: Value) => boolean

export interface DirectUnary {
  readonly fits: Fits
  readonly call: (a: Value) => Value
}

export interface DirectBinary {
  readonly fits: Fits
  readonly call: (a: Value, b: Value) => Value
  /** Left out where it is 1. */
  readonly cost?: (a: Value, b: Value, budget: WorkBudget) => number
}

interface Direct {
  /** The kind that both operands must have. */
  readonly of: TypeKind
  readonly call: (a: never, b: never) => Value
  readonly cost?: (a: never, b: never, budget: WorkBudget) => number
}

/** The cost of reading a whole text. */
export function textCost(text: string, budget: WorkBudget): number {
  const { length } = text
  // Up to ten characters are one, however many units they take.
  return length <= 10 ? (length === 0 ? 0 : 1) : Math.ceil(budget.codePoints(text) * STRING_TRAVERSAL)
}

/** Two texts are compared as far as the shorter one goes. */
export const pairCost = (a: string, b: string, budget: WorkBudget): number => {
  const shorter = Math.min(a.length, b.length)
  if (shorter <= 10) return shorter === 0 ? 0 : 1
  return a === b ? textCost(a, budget) : Math.min(textCost(a, budget), textCost(b, budget))
}

export const containsCost = (a: string, b: string, budget: WorkBudget): number =>
  textCost(a, budget) * textCost(b, budget)

const firstTextCost = (a: string, _b: string, budget: WorkBudget): number => textCost(a, budget)

const ints = (call: (a: Int, b: Int) => Value): Direct => ({ of: 'int', call })

const DIRECT: Readonly<Record<string, Direct>> = {
  less_int64: ints((a, b) => a < b),
  less_equals_int64: ints((a, b) => a <= b),
  greater_int64: ints((a, b) => a > b),
  greater_equals_int64: ints((a, b) => a >= b),
  add_int64: ints(addInts),
  subtract_int64: ints(subtractInts),
  multiply_int64: ints(multiplyInts),
  contains_string: {
    of: 'string',
    call: (a: string, b: string) => a.includes(b),
    cost: containsCost,
  },
  starts_with_string: { of: 'string', call: (a: string, b: string) => a.startsWith(b), cost: firstTextCost },
  ends_with_string: { of: 'string', call: (a: string, b: string) => a.endsWith(b), cost: firstTextCost },
}

const FITS: Readonly<Partial<Record<TypeKind, Fits>>> = {
  int: value => typeof value === 'number' || typeof value === 'bigint',
  bool: value => typeof value === 'boolean',
  string: value => typeof value === 'string',
}

const same: DirectBinary['call'] = (a, b) => a === b
const other: DirectBinary['call'] = (a, b) => a !== b

/** The operation that stands for the overload, if there is one for operands of these types. */
export function directBinary({ id }: Overload, [a, b]: readonly (CelType | undefined)[]): DirectBinary | undefined {
  if (!a || !b || a.nullable === true || b.nullable === true || a.kind !== b.kind) return undefined
  const fits = FITS[a.kind]
  if (fits === undefined) return undefined
  if (id === 'equals' || id === 'not_equals') {
    // An int has one form only, so that equal ones are the same.
    const call = id === 'equals' ? same : other
    return a.kind === 'string' ? { fits, call, cost: pairCost as NonNullable<DirectBinary['cost']> } : { fits, call }
  }
  const direct = Object.hasOwn(DIRECT, id) ? DIRECT[id]! : undefined
  return direct?.of === a.kind ? ({ ...direct, fits } as unknown as DirectBinary) : undefined
}

const NOT: DirectUnary = { fits: FITS.bool!, call: a => a !== true }

export const directUnary = ({ id }: Overload, type: CelType | undefined): DirectUnary | undefined =>
  id === 'logical_not' && type?.kind === 'bool' && type.nullable !== true ? NOT : undefined
