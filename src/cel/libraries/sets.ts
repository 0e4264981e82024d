// Lists as sets: sets.contains, sets.equivalent, sets.intersects.
import { BOOL, listOf, typeParam } from '../check/cel-type.js'
import { add, multiply, ONE, scale } from '../cost/cost-intervals.js'
import type { FunctionDeclaration, Library } from '../environment.js'
import { costSize, equal, itemsOf, type List, type Value } from '../values/values.js'

const LIST = listOf(typeParam('T'))

const has = (list: List, element: Value): boolean => {
  for (const item of itemsOf(list)) if (equal(item, element)) return true
  return false
}

const contains = (list: List, part: List): boolean => {
  for (const item of itemsOf(part)) if (!has(list, item)) return false
  return true
}

const intersects = (a: List, b: List): boolean => {
  for (const item of itemsOf(a)) if (has(b, item)) return true
  return false
}

/** Every element of one is compared with every element of the other. */
const declare = (name: string, test: (a: List, b: List) => boolean, factor: number): FunctionDeclaration => ({
  name: `sets.${name}`,
  overloads: [
    {
      id: `list_sets_${name}_list`,
      params: [LIST, LIST],
      result: BOOL,
      call: (a, b) => test(a as List, b as List),
      cost: ([a, b]) => 1 + costSize(a!) * costSize(b!) * factor,
      estimate: ({ args: [a, b] }) => ({ cost: add(scale(multiply(a!.size, b!.size), factor), ONE) }),
    },
  ],
})

export const SETS_LIBRARY: Library = {
  functions: [
    declare('contains', contains, 1),
    declare('equivalent', (a, b) => contains(a, b) && contains(b, a), 2),
    declare('intersects', intersects, 1),
  ],
}
