// Lists as sets: sets.contains, sets.equivalent, sets.intersects.
import { BOOL, listOf, typeParam } from '../check/cel-type.js'
import { add, multiply, ONE, scale } from '../cost/cost-intervals.js'
import type { WorkBudget } from '../cost/work-budget.js'
import type { FunctionDeclaration, Library } from '../environment.js'
import { costSize, equal, itemsOf, type List, type Value } from '../values/values.js'

const LIST = listOf(typeParam('T'))

const has = (budget: WorkBudget, list: List, element: Value): boolean => {
  for (const item of itemsOf(list, budget)) if (equal(item, element, budget)) return true
  return false
}

const contains = (budget: WorkBudget, list: List, part: List): boolean => {
  for (const item of itemsOf(part, budget)) if (!has(budget, list, item)) return false
  return true
}

const intersects = (budget: WorkBudget, a: List, b: List): boolean => {
  for (const item of itemsOf(a, budget)) if (has(budget, b, item)) return true
  return false
}

type Test = (budget: WorkBudget, a: List, b: List) => boolean

/** Every element of one is compared with every element of the other. */
const declare = (name: string, test: Test, factor: number): FunctionDeclaration => ({
  name: `sets.${name}`,
  overloads: [
    {
      id: `list_sets_${name}_list`,
      params: [LIST, LIST],
      result: BOOL,
      countedCall: (budget, a, b) => test(budget, a as List, b as List),
      cost: ([a, b], budget) => 1 + costSize(a!, budget) * costSize(b!, budget) * factor,
      estimate: ({ args: [a, b] }) => ({ cost: add(scale(multiply(a!.size, b!.size), factor), ONE) }),
    },
  ],
})

export const SETS_LIBRARY: Library = {
  functions: [
    declare('contains', contains, 1),
    declare('equivalent', (budget, a, b) => contains(budget, a, b) && contains(budget, b, a), 2),
    declare('intersects', intersects, 1),
  ],
}
