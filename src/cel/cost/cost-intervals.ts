// Costs and sizes that are only known to lie between two bounds. The bounds are uint64 that stop at the largest;
// as JavaScript numbers they are exact up to all limits.
import type { CelType } from '../check/cel-type.js'
import type { Expr } from '../syntax/syntax-tree.js'

export interface Interval {
  readonly min: number
  readonly max: number
}

/** Stands for every bound that is too large to matter. */
export const UNBOUNDED = 2 ** 64

export const fixed = (value: number): Interval => ({ min: value, max: value })
export const ZERO = fixed(0)
export const ONE = fixed(1)
export const UNKNOWN: Interval = { min: 0, max: UNBOUNDED }

const clamp = (value: number): number => (value >= UNBOUNDED ? UNBOUNDED : value)

export const add = (a: Interval, b: Interval): Interval => ({ min: clamp(a.min + b.min), max: clamp(a.max + b.max) })

export const multiply = (a: Interval, b: Interval): Interval => ({
  min: product(a.min, b.min),
  max: product(a.max, b.max),
})

const product = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : clamp(a * b))

/** Times a factor, rounded up. */
export const scale = ({ min, max }: Interval, factor: number): Interval => ({
  min: clamp(Math.ceil(min * factor)),
  max: clamp(Math.ceil(max * factor)),
})

export const union = (a: Interval, b: Interval): Interval => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
})

/** The cost of reading one character or byte. */
export const STRING_TRAVERSAL = 0.1
/** A regular expression is taken to have one part for every four characters. */
export const REGEX_LENGTH = 0.25

/** An operand of a call whose cost is estimated. */
export interface CostNode {
  /** The way to it from a variable: names of fields, `@items`, `@keys`, `@values`. */
  readonly path: readonly string[] | undefined
  readonly type: CelType
  readonly expr: Expr | undefined
  /** Its size as far as it can be known. */
  readonly size: Interval
  /** False where nothing is known of its size. */
  readonly sizeKnown: boolean
  /** A part of it, by the step that leads there. */
  readonly part?: (step: string, type: CelType) => CostNode
}

export interface CallNode {
  readonly target: CostNode | undefined
  readonly args: readonly CostNode[]
  /** The elements of a list, or undefined if it is none. */
  readonly elementOf: (node: CostNode) => CostNode | undefined
}

export interface CallCostEstimate {
  /** Without the costs of the operands. */
  readonly cost: Interval
  readonly resultSize?: Interval
}

export const traversal = (size: Interval): Interval => scale(size, STRING_TRAVERSAL)
