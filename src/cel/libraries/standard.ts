// The functions and operators of the language itself.
import { CelError, isError, NO_SUCH_OVERLOAD } from '../cel-error.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
  typeParam,
  UINT,
} from '../check/cel-type.js'
import {
  add as addIntervals,
  fixed,
  multiply as multiplyIntervals,
  ONE,
  REGEX_LENGTH,
  STRING_TRAVERSAL,
  scale,
  traversal,
} from '../cost/cost-intervals.js'
import type { WorkBudget } from '../cost/work-budget.js'
import type { CountedImplementation, FunctionDeclaration, Implementation, Library, Overload } from '../environment.js'
import { compare } from '../eval/comparison.js'
import { add, divide, indexInto, isIn, modulo, multiply, negate, not, subtract, unfit } from '../eval/operators.js'
import { EXISTS_ONE_MACRO, STANDARD_MACROS } from '../syntax/macros.js'
import { chargeMatching, pattern, patternError } from '../values/patterns.js'
import { costSize, equalOrError, OpaqueValue, sizeOf, type Value } from '../values/values.js'
import { CONVERSIONS } from './conversions.js'
import { TIME_PARTS } from './time-parts.js'

const A = typeParam('A')
const B = typeParam('B')

const overload = (id: string, params: readonly CelType[], result: CelType, call?: Implementation): Overload =>
  call ? { id, params, result, call } : { id, params, result }

const member = (id: string, params: readonly CelType[], result: CelType, call?: Implementation): Overload => ({
  ...overload(id, params, result, call),
  member: true,
})

/** Two strings or byte sequences are compared as far as the shorter one goes. */
const comparisonCost: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([a, b], budget) => Math.ceil(Math.min(costSize(a!, budget), costSize(b!, budget)) * STRING_TRAVERSAL),
  estimate: ({ args: [a, b] }) => {
    const max = Math.min(a!.size.max, b!.size.max)
    return { cost: scale({ min: max > 0 ? 1 : 0, max }, STRING_TRAVERSAL) }
  },
}

const ORDERED: readonly (readonly [string, CelType])[] = [
  ['bool', BOOL],
  ['int64', INT],
  ['uint64', UINT],
  ['double', DOUBLE],
  ['string', STRING],
  ['bytes', BYTES],
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
]
const NUMERIC = ORDERED.slice(1, 4)

function ordering(name: string, id: string, holds: (order: number) => boolean): FunctionDeclaration {
  const call: Implementation = (a, b) => {
    const order = compare(a, b, name)
    return isError(order) ? order : holds(order)
  }
  const overloads = ORDERED.flatMap(([suffix, type]) => {
    const same = overload(`${id}_${suffix}`, [type, type], BOOL, call)
    const cross = NUMERIC.some(([, numeric]) => numeric === type)
      ? NUMERIC.filter(([, other]) => other !== type).map(([otherSuffix, other]) =>
          overload(`${id}_${suffix}_${otherSuffix}`, [type, other], BOOL, call),
        )
      : []
    return [type === STRING || type === BYTES ? Object.assign(same, comparisonCost) : same].concat(cross)
  })
  return { name, overloads }
}

/** A new string or byte sequence is written out in full. */
const concatenationCost: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([a, b], budget) => Math.ceil((costSize(a!, budget) + costSize(b!, budget)) * STRING_TRAVERSAL),
  estimate: ({ args: [a, b] }) => {
    const size = addIntervals(a!.size, b!.size)
    return { cost: traversal(size), resultSize: size }
  },
}

const OPERATORS: readonly FunctionDeclaration[] = [
  { name: '_?_:_', overloads: [overload('conditional', [BOOL, A, A], A)] },
  { name: '_&&_', overloads: [overload('logical_and', [BOOL, BOOL], BOOL)] },
  { name: '_||_', overloads: [overload('logical_or', [BOOL, BOOL], BOOL)] },
  { name: '!_', overloads: [overload('logical_not', [BOOL], BOOL, a => not(a))] },
  {
    name: '@not_strictly_false',
    overloads: [{ ...overload('not_strictly_false', [BOOL], BOOL, a => a !== false), unguarded: true }],
  },
  {
    name: '_==_',
    overloads: [
      {
        ...overload('equals', [A, A], BOOL),
        countedCall: (budget, a, b) => equalOrError(a, b, budget),
        ...comparisonCost,
        // Values of libraries cost 1, whatever their size.
        cost: (args, budget) => (args[0] instanceof OpaqueValue ? 1 : comparisonCost.cost!(args, budget)),
      },
    ],
  },
  {
    name: '_!=_',
    overloads: [
      {
        ...overload('not_equals', [A, A], BOOL),
        // As in cel-go, values that cannot be compared differ.
        countedCall: (budget, a, b) => equalOrError(a, b, budget) !== true,
        ...comparisonCost,
      },
    ],
  },
  ordering('_<_', 'less', order => order < 0),
  ordering('_<=_', 'less_equals', order => order <= 0),
  ordering('_>_', 'greater', order => order > 0),
  ordering('_>=_', 'greater_equals', order => order >= 0),
  {
    name: '_+_',
    overloads: counted(add, [
      { ...overload('add_bytes', [BYTES, BYTES], BYTES), ...concatenationCost },
      overload('add_double', [DOUBLE, DOUBLE], DOUBLE),
      overload('add_duration_duration', [DURATION, DURATION], DURATION),
      overload('add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP),
      overload('add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
      overload('add_int64', [INT, INT], INT),
      {
        ...overload('add_list', [listOf(A), listOf(A)], listOf(A)),
        estimate: ({ args: [a, b] }) => ({ cost: ONE, resultSize: addIntervals(a!.size, b!.size) }),
      },
      { ...overload('add_string', [STRING, STRING], STRING), ...concatenationCost },
      overload('add_uint64', [UINT, UINT], UINT),
    ]),
  },
  {
    name: '_-_',
    overloads: implementedBy(subtract, [
      overload('subtract_double', [DOUBLE, DOUBLE], DOUBLE),
      overload('subtract_duration_duration', [DURATION, DURATION], DURATION),
      overload('subtract_int64', [INT, INT], INT),
      overload('subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
      overload('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION),
      overload('subtract_uint64', [UINT, UINT], UINT),
    ]),
  },
  arithmetic('_*_', 'multiply', [DOUBLE, INT, UINT], multiply),
  arithmetic('_/_', 'divide', [DOUBLE, INT, UINT], divide),
  arithmetic('_%_', 'modulo', [INT, UINT], modulo),
  {
    name: '-_',
    overloads: [
      overload('negate_double', [DOUBLE], DOUBLE, a => negate(a)),
      overload('negate_int64', [INT], INT, a => negate(a)),
    ],
  },
  {
    name: '_[_]',
    overloads: [
      overload('index_list', [listOf(A), INT], A, indexInto),
      overload('index_map', [mapOf(A, B), A], B, indexInto),
    ],
  },
  {
    name: '@in',
    overloads: [
      {
        ...overload('in_list', [A, listOf(A)], BOOL),
        countedCall: isIn,
        cost: ([, list], budget) => costSize(list!, budget),
        estimate: ({ args: [, list] }) => ({ cost: list!.size }),
      },
      { ...overload('in_map', [A, mapOf(A, B)], BOOL), countedCall: isIn },
    ],
  },
]

function counted(countedCall: CountedImplementation, overloads: readonly Overload[]): readonly Overload[] {
  return overloads.map(declared => ({ ...declared, countedCall }))
}

function implementedBy(call: (a: Value, b: Value) => Value, overloads: readonly Overload[]): readonly Overload[] {
  return overloads.map(declared => ({ ...declared, call }))
}

function arithmetic(name: string, id: string, types: readonly CelType[], call: (a: Value, b: Value) => Value) {
  const suffix = (type: CelType): string => (type === DOUBLE ? 'double' : `${type.name}64`)
  return {
    name,
    overloads: types.map(type => overload(`${id}_${suffix(type)}`, [type, type], type, call)),
  }
}

/** The length of a long text is counted once in an evaluation, so this is not charged to the budget. */
const sizeCost: Pick<Overload, 'cost'> = { cost: () => 1 }

const sizes = ([suffix, type]: readonly [string, CelType]): Overload[] => [
  { ...overload(`size_${suffix}`, [type], INT), countedCall: sizeOrUnfit, unguarded: true, ...sizeCost },
  { ...member(`${suffix}_size`, [type], INT), countedCall: sizeOrUnfit, unguarded: true, ...sizeCost },
]

function sizeOrUnfit(budget: WorkBudget, value: Value): Value {
  if (isError(value)) return value
  const found = sizeOf(value, budget)
  return isError(found) ? unfit(value, 'size') : found
}

const matches: CountedImplementation = (budget, text, expression) => {
  if (typeof text !== 'string' || typeof expression !== 'string') return NO_SUCH_OVERLOAD
  const compiled = pattern(expression, budget)
  if (compiled instanceof CelError) return compiled
  chargeMatching(compiled, text, budget)
  return compiled.test(text)
}

/** Functions of two texts check their arguments themselves; their error does not name the types. */
function withTexts(of: (a: string, b: string) => Value): (a: Value, b: Value) => Value {
  return (a, b) => (typeof a === 'string' && typeof b === 'string' ? of(a, b) : NO_SUCH_OVERLOAD)
}

/** Each part of the pattern may be tried at each character. An empty text still costs the pattern. */
export const matchCost: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text, expression], budget) =>
    Math.ceil((1 + costSize(text!, budget)) * STRING_TRAVERSAL) *
    Math.ceil(costSize(expression!, budget) * REGEX_LENGTH),
  estimate: ({ target, args }) => {
    if (!target || args.length !== 1) return undefined
    const text = traversal(addIntervals(target.size, fixed(1)))
    return { cost: multiplyIntervals(text, scale(args[0]!.size, REGEX_LENGTH)) }
  },
}

const prefixCost: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text], budget) => Math.ceil(costSize(text!, budget) * STRING_TRAVERSAL),
  estimate: ({ args: [arg] }) => ({ cost: traversal(arg!.size) }),
}

const STRINGS: readonly FunctionDeclaration[] = [
  {
    name: 'contains',
    overloads: [
      {
        ...member(
          'contains_string',
          [STRING, STRING],
          BOOL,
          withTexts((a, b) => a.includes(b)),
        ),
        unguarded: true,
        cost: ([a, b], budget) =>
          Math.ceil(costSize(a!, budget) * STRING_TRAVERSAL) * Math.ceil(costSize(b!, budget) * STRING_TRAVERSAL),
        estimate: ({ target, args: [arg] }) => ({
          cost: multiplyIntervals(traversal(target!.size), traversal(arg!.size)),
        }),
      },
    ],
  },
  {
    name: 'endsWith',
    overloads: [
      {
        ...member(
          'ends_with_string',
          [STRING, STRING],
          BOOL,
          withTexts((a, b) => a.endsWith(b)),
        ),
        unguarded: true,
        ...prefixCost,
      },
    ],
  },
  {
    name: 'matches',
    overloads: [
      {
        ...overload('matches', [STRING, STRING], BOOL),
        countedCall: matches,
        unguarded: true,
        constantError: patternError,
      },
      {
        ...member('matches_string', [STRING, STRING], BOOL),
        countedCall: matches,
        unguarded: true,
        ...matchCost,
        constantError: patternError,
      },
    ],
  },
  {
    name: 'startsWith',
    overloads: [
      {
        ...member(
          'starts_with_string',
          [STRING, STRING],
          BOOL,
          withTexts((a, b) => a.startsWith(b)),
        ),
        unguarded: true,
        ...prefixCost,
      },
    ],
  },
]

export const STANDARD_LIBRARY: Library = {
  functions: [
    ...OPERATORS,
    {
      name: 'size',
      overloads: (
        [
          ['bytes', BYTES],
          ['list', listOf(A)],
          ['map', mapOf(A, B)],
          ['string', STRING],
        ] as const
      ).flatMap(sizes),
    },
    ...STRINGS,
    ...CONVERSIONS,
    ...TIME_PARTS,
  ],
  macros: STANDARD_MACROS,
}

/** The later spelling of `exists_one`, which not every host offers. */
export const EXISTS_ONE_LIBRARY: Library = { functions: [], macros: [EXISTS_ONE_MACRO] }
