// The operations that rules use most, for operands whose types are settled before evaluation: without looking at types,
// without an array for the arguments, and at the same price.
import type { CelType, TypeKind } from './cel-type.js'
import { STRING_TRAVERSAL } from './cost-intervals.js'
import { codePoints } from './effort.js'
import type { Overload } from './environment.js'
import { addInts, type Int, multiplyInts, subtractInts } from './numbers.js'
import type { Value } from './values.js'

export interface DirectUnary {
  readonly call: (a: Value) => Value
}

export interface DirectBinary {
  readonly call: (a: Value, b: Value) => Value
  /** Left out where it is 1. */
  readonly cost?: (a: Value, b: Value) => number
}

interface Direct {
  /** The kind that both operands must have. */
  readonly of: TypeKind
  readonly call: (a: never, b: never) => Value
  readonly cost?: (a: never, b: never) => number
}

/** What it costs to look at a whole text. */
export function textCost(text: string): number {
  const { length } = text
  // Up to ten characters are one, however many units they take.
  return length <= 10 ? (length === 0 ? 0 : 1) : Math.ceil(codePoints(text) * STRING_TRAVERSAL)
}

/** Two texts are looked at as far as the shorter one goes. */
const pairCost = (a: string, b: string): number => {
  const shorter = Math.min(a.length, b.length)
  if (shorter <= 10) return shorter === 0 ? 0 : 1
  return a === b ? textCost(a) : Math.min(textCost(a), textCost(b))
}

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
    cost: (a: string, b: string) => textCost(a) * textCost(b),
  },
  starts_with_string: { of: 'string', call: (a: string, b: string) => a.startsWith(b), cost: textCost },
  ends_with_string: { of: 'string', call: (a: string, b: string) => a.endsWith(b), cost: textCost },
}

const SAME: Pick<DirectBinary, 'call'> = { call: (a, b) => a === b }
const OTHER: Pick<DirectBinary, 'call'> = { call: (a, b) => a !== b }
const ofTexts = pairCost as NonNullable<DirectBinary['cost']>

/** The operation that stands for the overload, if there is one for operands of these types. */
export function directBinary({ id }: Overload, [a, b]: readonly (CelType | undefined)[]): DirectBinary | undefined {
  if (!a || !b || a.nullable === true || b.nullable === true || a.kind !== b.kind) return undefined
  if (id === 'equals' || id === 'not_equals') {
    const operation = id === 'equals' ? SAME : OTHER
    // An int has one form only, so that equal ones are the same.
    if (a.kind === 'int' || a.kind === 'bool') return operation
    return a.kind === 'string' ? { ...operation, cost: ofTexts } : undefined
  }
  const direct = Object.hasOwn(DIRECT, id) ? DIRECT[id]! : undefined
  return direct?.of === a.kind ? (direct as unknown as DirectBinary) : undefined
}

const NOT: DirectUnary = { call: a => a !== true }

export const directUnary = ({ id }: Overload, type: CelType | undefined): DirectUnary | undefined =>
  id === 'logical_not' && type?.kind === 'bool' && type.nullable !== true ? NOT : undefined
