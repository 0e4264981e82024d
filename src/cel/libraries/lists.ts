// Functions over lists: isSorted, sum, min, max, indexOf, lastIndexOf; slice, flatten, sort, sortBy, distinct, reverse
// and lists.range.
import { CelError, isError } from '../cel-error.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  STRING,
  TIMESTAMP,
  typeParam,
  UINT,
} from '../check/cel-type.js'
import {
  add,
  type CallCostEstimate,
  type CallNode,
  type CostNode,
  fixed,
  type Interval,
  multiply,
  ONE,
  STRING_TRAVERSAL,
  scale,
  traversal,
  UNBOUNDED,
} from '../cost/cost-intervals.js'
import type { WorkBudget } from '../cost/work-budget.js'
import type { CountedImplementation, FunctionDeclaration, Library, Overload } from '../environment.js'
import { compare } from '../eval/comparison.js'
import { add as addValues } from '../eval/operators.js'
import { SORT_BY_MACRO } from '../syntax/macros.js'
import { Duration } from '../values/moments.js'
import { Double, type Int, isInt, Uint } from '../values/numbers.js'
import {
  costSize,
  equal,
  isList,
  itemAt,
  itemsOf,
  type List,
  sizeOfList,
  typeName,
  type Value,
  visitedSize,
} from '../values/values.js'
import { traversalCost } from './traversal-cost.js'

const T = typeParam('T')
const LIST = listOf(T)

const NUMBERS: readonly (readonly [string, CelType, Value])[] = [
  ['int', INT, 0],
  ['uint', UINT, new Uint(0n)],
  ['double', DOUBLE, new Double(0)],
  ['duration', DURATION, new Duration(0n)],
]
const COMPARABLE: readonly (readonly [string, CelType])[] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
]

/** Each element is visited once, strings and bytes in full. */
const onePass: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([list], budget) => traversalCost(list!, budget),
  estimate: ({ target, elementOf }) => {
    if (!target) return undefined
    const element = elementOf(target)
    const long = element && (element.type.kind === 'string' || element.type.kind === 'bytes')
    return { cost: multiply(target.size, long ? add(ONE, traversal(element.size)) : ONE) }
  },
}

const member = (
  id: string,
  params: readonly CelType[],
  result: CelType,
  countedCall: CountedImplementation,
): Overload => ({
  id,
  member: true,
  params,
  result,
  countedCall,
})

const AGGREGATES: readonly FunctionDeclaration[] = [
  {
    name: 'isSorted',
    overloads: COMPARABLE.map(([name, type]) => ({
      ...member(`list_${name}_is_sorted_bool`, [listOf(type)], BOOL, (_, list) => isSorted(list as List)),
      ...onePass,
    })),
  },
  {
    name: 'sum',
    overloads: NUMBERS.map(([name, type, zero]) =>
      Object.assign(
        member(`list_${name}_sum_${name}`, [listOf(type)], type, (budget, list) => sum(budget, list as List, zero)),
        onePass,
      ),
    ),
  },
  extreme('max', order => order > 0),
  extreme('min', order => order < 0),
  {
    name: 'indexOf',
    overloads: [
      {
        ...member('list_a_index_of_int', [LIST, T], INT, (budget, list, item) => indexOf(budget, list as List, item)),
        ...onePass,
      },
    ],
  },
  {
    name: 'lastIndexOf',
    overloads: [
      {
        ...member('list_a_last_index_of_int', [LIST, T], INT, (budget, list, item) =>
          lastIndexOf(budget, list as List, item),
        ),
        ...onePass,
      },
    ],
  },
]

function extreme(name: 'min' | 'max', better: (order: number) => boolean): FunctionDeclaration {
  return {
    name,
    overloads: COMPARABLE.map(([type, element]) => ({
      ...member(`list_${type}_${name}_${type}`, [listOf(element)], element, (budget, list) =>
        best(budget, list as List, name, better),
      ),
      ...onePass,
    })),
  }
}

function isSorted(list: List): Value {
  for (let i = 1; i < sizeOfList(list); i++) {
    const order = compare(itemAt(list, i - 1), itemAt(list, i))
    if (isError(order)) return order
    if (order > 0) return false
  }
  return true
}

function sum(budget: WorkBudget, list: List, zero: Value): Value {
  let total = zero
  for (const item of itemsOf(list, budget)) {
    total = addValues(budget, total, item)
    if (isError(total)) return total
  }
  return total
}

function best(budget: WorkBudget, list: List, name: string, better: (order: number) => boolean): Value {
  if (sizeOfList(list) === 0) return new CelError(`${name} called on empty list`)
  let found = itemAt(list, 0)
  for (const item of itemsOf(list, budget)) {
    const order = compare(item, found)
    if (isError(order)) return order
    if (better(order)) found = item
  }
  return found
}

function indexOf(budget: WorkBudget, list: List, wanted: Value): Value {
  for (let i = 0; i < sizeOfList(list); i++) if (equal(itemAt(list, i), wanted, budget)) return i
  return -1
}

function lastIndexOf(budget: WorkBudget, list: List, wanted: Value): Value {
  for (let i = sizeOfList(list) - 1; i >= 0; i--) if (equal(itemAt(list, i), wanted, budget)) return i
  return -1
}

/** The functions that Kubernetes adds to lists. */
export const LIST_AGGREGATES_LIBRARY: Library = { functions: AGGREGATES }

// ---- the general extension library

const CREATE_LIST = 10

/** 1 for the call, the new list, and so much for each of its elements. */
const allocation = (size: number, perElement = 1): number => 1 + CREATE_LIST + Math.floor(size * perElement)

const outputCost: NonNullable<Overload['resultCost']> = (_args, result, budget) => allocation(costSize(result, budget))

const allocationEstimate = (size: Interval, perElement = 1): CallCostEstimate => ({
  cost: add(scale(size, perElement), fixed(1 + CREATE_LIST)),
  resultSize: size,
})

/** Every element is compared with every other. */
function selfComparisonCost(list: Value, budget: WorkBudget): number {
  const size = costSize(list, budget)
  const first = size > 0 && isList(list) ? itemAt(list, 0) : undefined
  const long = typeof first === 'string' || first instanceof Uint8Array
  return allocation(size * size, 2 + (long ? STRING_TRAVERSAL : 0))
}

function selfComparisonEstimate(size: Interval, type: CelType): CallCostEstimate {
  return allocationEstimate(multiply(size, size), 2 + (type === STRING || type === BYTES ? STRING_TRAVERSAL : 0))
}

/** A negative one counts as 0. */
const literalInt = ({ expr }: CostNode): number | undefined =>
  expr?.kind === 'literal' && isInt(expr.value) ? Math.max(Number(expr.value), 0) : undefined

const EXTENSIONS: readonly FunctionDeclaration[] = [
  {
    name: 'slice',
    overloads: [
      {
        ...member('list_slice', [LIST, INT, INT], LIST, slice as CountedImplementation),
        resultCost: outputCost,
        estimate: sliceEstimate,
      },
    ],
  },
  {
    name: 'flatten',
    overloads: [
      {
        ...member('list_flatten', [listOf(LIST)], LIST, (budget, list) => flatten(budget, list as List | CelError, 1)),
        cost: ([list], budget) => allocation(costSize(list!, budget)),
        estimate: ({ target }) => allocationEstimate(target!.size),
        unguarded: true,
      },
      {
        ...member('list_flatten_int', [listOf(DYN), INT], listOf(DYN), (budget, list, depth) =>
          flatten(budget, list as List, Number(depth)),
        ),
        cost: ([list, depth], budget) => allocation(costSize(list!, budget), Math.max(Number(depth), 0)),
        estimate: ({ target, args: [depth] }) => allocationEstimate(target!.size, literalInt(depth!) ?? UNBOUNDED),
      },
    ],
  },
  {
    name: 'sort',
    overloads: COMPARABLE.map(([name, type]) => ({
      ...member(`list_${type.name === type.kind ? name : type.name}_sort`, [listOf(type)], listOf(type), (_, list) =>
        sortBy(list as List, list as List),
      ),
      runtimeParams: [LIST],
      cost: ([list]: readonly Value[], budget: WorkBudget) => selfComparisonCost(list!, budget),
      breaksOffOnError: true,
      estimate: ({ target }: CallNode) => selfComparisonEstimate(target!.size, type),
    })),
  },
  {
    name: '@sortByAssociatedKeys',
    overloads: COMPARABLE.map(([name, type]) => ({
      id: `list_${name}_sortByAssociatedKeys`,
      member: true,
      params: [LIST, listOf(type)],
      runtimeParams: [LIST, LIST],
      result: LIST,
      call: (list: Value, keys: Value) => sortBy(list as List, keys as List),
      cost: ([, keys]: readonly Value[], budget: WorkBudget) => selfComparisonCost(keys!, budget),
      breaksOffOnError: true,
      estimate: ({ args: [keys] }: CallNode) => selfComparisonEstimate(keys!.size, type),
    })),
  },
  {
    name: 'lists.range',
    overloads: [
      {
        id: 'lists_range',
        params: [INT],
        result: listOf(INT),
        call: count => range(count as Int),
        cost: ([count]) => allocation(Math.min(Math.max(Number(count), 0), MAX_RANGE)),
        estimate: ({ args: [count] }) => allocationEstimate(fixed(literalInt(count!) ?? UNBOUNDED)),
      },
    ],
  },
  {
    name: 'reverse',
    overloads: [
      {
        ...member('list_reverse', [LIST], LIST, (budget, list) => [...itemsOf(list as List, budget)].toReversed()),
        resultCost: outputCost,
        estimate: ({ target }) => allocationEstimate(target!.size),
      },
    ],
  },
  {
    name: 'distinct',
    overloads: [
      {
        ...member('list_distinct', [LIST], LIST, (budget, list) => distinct(budget, list as List)),
        cost: ([list], budget) => selfComparisonCost(list!, budget),
        breaksOffOnError: true,
        estimate: ({ target }) => selfComparisonEstimate(target!.size, DYN),
      },
    ],
  },
]

export const LISTS_LIBRARY: Library = { functions: EXTENSIONS, macros: [SORT_BY_MACRO] }

function slice(budget: WorkBudget, list: List, start: Int, end: Int): Value {
  const fail = (why: string): CelError => new CelError(`cannot slice(${start}, ${end}), ${why}`)
  if (start < 0 || end < 0) return fail('negative indexes not supported')
  if (start > end) return fail('start index must be less than or equal to end index')
  const size = sizeOfList(list)
  if (size < end) return fail(`list is length ${size}`)
  visitedSize(list, budget)
  const items: Value[] = []
  for (let i = Number(start); i < end; i++) items.push(itemAt(list, i))
  return items
}

function sliceEstimate({ target, args: [start, end] }: CallNode): CallCostEstimate {
  const size = (literalInt(end!) ?? target!.size.max) - (literalInt(start!) ?? 0)
  // A slice that ends before it begins has no size that cel-go could compute.
  return allocationEstimate(fixed(size < 0 ? UNBOUNDED : size))
}

function flatten(budget: WorkBudget, list: List | CelError, depth: number): Value {
  if (isError(list)) return list
  if (!isList(list)) return new CelError(`no such overload: ${typeName(list)}.flatten()`, true)
  if (depth < 0) return new CelError('level must be non-negative')
  const items: Value[] = []
  const collect = (from: List, levels: number): void => {
    // The cost is that of the outermost list only, and the result takes memory.
    budget.charge(sizeOfList(from) * 2)
    for (const item of itemsOf(from, budget)) {
      if (isList(item) && levels > 0) collect(item, levels - 1)
      else items.push(item)
    }
  }
  collect(list, depth)
  return items
}

function sortBy(list: List, keys: List): Value {
  const size = sizeOfList(list)
  if (size !== sizeOfList(keys)) {
    return new CelError(
      '@sortByAssociatedKeys() expected a list of the same size as the associated keys list, ' +
        `but got ${size} and ${sizeOfList(keys)} elements respectively`,
    )
  }
  if (size === 0) return list
  const first = itemAt(keys, 0)
  if (isError(compare(first, first))) return new CelError('list elements must be comparable')
  const pairs = Array.from({ length: size }, (_, i) => ({ key: itemAt(keys, i), item: itemAt(list, i) }))
  if (pairs.some(({ key }) => typeName(key) !== typeName(first))) {
    return new CelError('list elements must have the same type')
  }
  pairs.sort((a, b) => compare(a.key, b.key) as number)
  return pairs.map(({ item }) => item)
}

const MAX_RANGE = 10_000_000

function range(count: Int): Value {
  if (count > MAX_RANGE) return new CelError(`lists.range: size ${count} exceeds maximum allowed (${MAX_RANGE})`)
  return Array.from({ length: Math.max(Number(count), 0) }, (_, i) => i)
}

function distinct(budget: WorkBudget, list: List): Value {
  const kept: Value[] = []
  const seen = new Set<Value>()
  for (const item of itemsOf(list, budget)) {
    // Texts and booleans are found in a set; other values are compared with each other.
    const quick = typeof item === 'string' || typeof item === 'boolean'
    if (quick ? seen.has(item) : kept.some(other => equal(other, item, budget))) continue
    if (quick) seen.add(item)
    kept.push(item)
  }
  return kept
}
