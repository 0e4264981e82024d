// The cost of looking at every part of a value once.
import { STRING_TRAVERSAL } from '../cost/cost-intervals.js'
import { isList, itemAt, MapValue, type Value, visitedSize } from '../values/values.js'

export function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * STRING_TRAVERSAL)
  if (value instanceof Uint8Array) return Math.floor(value.length * STRING_TRAVERSAL)
  if (isList(value)) {
    const size = visitedSize(value)
    let cost = 0
    for (let i = 0; i < size; i++) cost += traversalCost(itemAt(value, i))
    return cost
  }
  if (value instanceof MapValue) {
    let cost = 0
    for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.get(key)!)
    return cost
  }
  return 1
}
