// The state of one evaluation: its variables, the local ones of comprehensions, and what has been spent.
import { CostLimitExceeded } from '../cel-error.js'
import type { WorkBudget } from '../cost/work-budget.js'
import type { Value } from '../values/values.js'

export type Variables = Readonly<Record<string, Value>>

export interface Frame {
  readonly variables: Variables
  readonly locals: (Value | undefined)[]
  cost: number
  readonly limit: number
  /** For work that costs do not cover. */
  readonly budget: WorkBudget
}

/** The cost of a new list beside its elements. */
export const LIST_COST = 10

export type Evaluate = (frame: Frame) => Value

/** Called before the work is done wherever its cost is known by then, so that no work exceeds the limit. */
export function spend(frame: Frame, cost: number): void {
  frame.cost += cost
  if (frame.cost > frame.limit) throw new CostLimitExceeded()
}

/** A node as closures. */
export interface Compiled {
  readonly run: Evaluate
  /**
   * Set for names, selections, indexes and conditions: the same without the cost of 1 for looking up the name at its
   * root. A condition takes its branches in this form.
   */
  readonly branch?: Evaluate
  /** Set for a plain name: its value, without the cost of looking it up. */
  readonly read?: Evaluate
  /** Set if the value is known before any evaluation. It then costs nothing. */
  readonly constant?: Value
}

export const constant = (value: Value): Compiled => ({ run: () => value, constant: value })
