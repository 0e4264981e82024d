// Limits on the estimated cost of rules, and the messages for costs above them.
import { UNBOUNDED } from '../../cel/index.js'
import { printFixed } from '../../meta/go/go-text.js'

/** For one rule, as often as it may be evaluated for one object. */
export const RULE_COST_LIMIT = 10_000_000
/** For all rules of a schema. */
export const TOTAL_COST_LIMIT = 100_000_000

export const multiplyCosts = (cost: number, times: number): number =>
  cost === 0 || times === 0 ? 0 : Math.min(cost * times, UNBOUNDED)

export function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  // Just above the limit one digit would say `1.0x`.
  const shown = factor > 100 ? 'more than 100x' : `${printFixed(factor, factor < 1.5 ? 6 : 1)}x`
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

interface ExpressionCost {
  readonly field: string
  readonly cost: number
}

export class TotalCost {
  cost = 0
  /** At most four, and none that costs less than a hundredth of the limit. */
  maxExpensive: readonly ExpressionCost[] = []

  add(field: string, cost: number): void {
    this.cost = Math.min(this.cost + cost, UNBOUNDED)
    if (cost < TOTAL_COST_LIMIT / 100) return
    this.maxExpensive = [...this.maxExpensive, { field, cost }].toSorted((a, b) => b.cost - a.cost).slice(0, 4)
  }
}
