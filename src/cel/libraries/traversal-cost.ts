// The cost of visiting every part of a value once.
import { STRING_TRAVERSAL } from '../cost/cost-intervals.js'
import type { WorkBudget } from '../cost/work-budget.js'
import { isList, itemAt, MapValue, type Value, visitedSize } from '../values/values.js'

export function traversalCost(value: Value, budget: WorkBudget): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * STRING_TRAVERSAL)
  if (value instanceof Uint8Array) return Math.floor(value.length * STRING_TRAVERSAL)
  if (isList(value)) {
    const size = visitedSize(value, budget)
    let cost = 0
    for (let i = 0; i < size; i++) cost += traversalCost(itemAt(value, i), budget)
    return cost
  }
  if (value instanceof MapValue) {
    let cost = 0
    for (const key of value.keys()) cost += traversalCost(key, budget) + traversalCost(value.get(key)!, budget)
    return cost
  }
  return 1
}
