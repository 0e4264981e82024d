// Optional values: of, none, value, orValue, and unwrapping of lists of them.
import { CelError } from '../cel-error.js'
import { BOOL, DYN, INT, listOf, mapOf, optionalOf, STRING, typeParam } from '../check/cel-type.js'
import { type CountedImplementation, type Library, OPTIONAL_TYPE_NAME, type Overload } from '../environment.js'
import { OPTIONAL_MACROS } from '../syntax/macros.js'
import { Duration, Timestamp } from '../values/moments.js'
import { Double, Uint } from '../values/numbers.js'
import {
  itemAt,
  itemsOf,
  type List,
  ListValue,
  MapValue,
  ObjectValue,
  OPTIONAL_NONE,
  OptionalValue,
  sizeOfList,
  type Value,
} from '../values/values.js'

const T = typeParam('T')
const V = typeParam('V')
const K = typeParam('K')
const OPTIONAL_T = optionalOf(T)
const OPTIONAL_V = optionalOf(V)
const EMPTY_ERROR = new CelError('optional.none() dereference')

const member = (overload: Omit<Overload, 'member'>): Overload => ({ ...overload, member: true })

const unwrap: CountedImplementation = (budget, list) => {
  const values: Value[] = []
  for (const item of itemsOf(list as List, budget)) {
    if (!(item instanceof OptionalValue)) return new CelError('value is not an optional')
    if (item.value !== undefined) values.push(item.value)
  }
  return values
}

export const OPTIONAL_LIBRARY: Library = {
  types: OPTIONAL_TYPE_NAME,
  macros: OPTIONAL_MACROS,
  functions: [
    {
      name: 'optional.of',
      overloads: [{ id: 'optional_of', params: [V], result: OPTIONAL_V, call: value => new OptionalValue(value) }],
    },
    {
      name: 'optional.ofNonZeroValue',
      overloads: [
        {
          id: 'optional_ofNonZeroValue',
          params: [V],
          result: OPTIONAL_V,
          call: value => (isZero(value) ? OPTIONAL_NONE : new OptionalValue(value)),
        },
      ],
    },
    {
      name: 'optional.none',
      overloads: [{ id: 'optional_none', params: [], result: OPTIONAL_V, call: () => OPTIONAL_NONE }],
    },
    {
      name: 'value',
      overloads: [
        member({
          id: 'optional_value',
          params: [OPTIONAL_V],
          result: V,
          call: optional => orElse(optional, EMPTY_ERROR),
        }),
      ],
    },
    {
      name: 'hasValue',
      overloads: [
        member({
          id: 'optional_hasValue',
          params: [OPTIONAL_V],
          result: BOOL,
          call: optional => (optional as OptionalValue).value !== undefined,
        }),
      ],
    },
    {
      name: 'or',
      overloads: [
        member({
          id: 'optional_or_optional',
          params: [OPTIONAL_V, OPTIONAL_V],
          result: OPTIONAL_V,
          call: (optional, other) => ((optional as OptionalValue).value === undefined ? other! : optional!),
        }),
      ],
    },
    {
      name: 'orValue',
      overloads: [
        member({
          id: 'optional_orValue_value',
          params: [OPTIONAL_V, V],
          result: V,
          call: (optional, other) => orElse(optional, other),
        }),
      ],
    },
    { name: '_?._', overloads: [{ id: 'select_optional_field', params: [DYN, STRING], result: OPTIONAL_V }] },
    {
      name: '_[?_]',
      overloads: [
        { id: 'list_optindex_optional_int', params: [listOf(V), INT], result: OPTIONAL_V },
        { id: 'optional_list_optindex_optional_int', params: [optionalOf(listOf(V)), INT], result: OPTIONAL_V },
        { id: 'map_optindex_optional_value', params: [mapOf(K, V), K], result: OPTIONAL_V },
        { id: 'optional_map_optindex_optional_value', params: [optionalOf(mapOf(K, V)), K], result: OPTIONAL_V },
      ],
    },
    {
      name: '_[_]',
      overloads: [
        { id: 'optional_list_index_int', params: [optionalOf(listOf(V)), INT], result: OPTIONAL_V },
        { id: 'optional_map_index_value', params: [optionalOf(mapOf(K, V)), K], result: OPTIONAL_V },
      ],
    },
    {
      name: 'optional.unwrap',
      overloads: [{ id: 'optional_unwrap', params: [listOf(OPTIONAL_T)], result: listOf(T), countedCall: unwrap }],
    },
    {
      name: 'unwrapOpt',
      overloads: [
        member({
          id: 'optional_unwrapOpt',
          params: [listOf(OPTIONAL_T)],
          result: listOf(T),
          countedCall: unwrap,
        }),
      ],
    },
    {
      name: 'first',
      overloads: [
        member({ id: 'list_first', params: [listOf(V)], result: OPTIONAL_V, call: list => end(list as List, 0) }),
      ],
    },
    {
      name: 'last',
      overloads: [
        member({
          id: 'list_last',
          params: [listOf(V)],
          result: OPTIONAL_V,
          call: list => end(list as List, sizeOfList(list as List) - 1),
        }),
      ],
    },
  ],
}

const orElse = (optional: Value, other: Value): Value => {
  const { value } = optional as OptionalValue
  return value === undefined ? other : value
}

const end = (list: List, index: number): Value =>
  sizeOfList(list) === 0 ? OPTIONAL_NONE : new OptionalValue(itemAt(list, index))

/** Whether a value is that of a field that was never set. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Double) return value.value === 0
  if (value instanceof Duration) return value.nanos === 0n
  if (value instanceof Timestamp) return false
  if (value instanceof Uint8Array) return value.length === 0
  if (Array.isArray(value)) return value.length === 0
  if (value instanceof ListValue || value instanceof MapValue) return value.isZero?.() ?? false
  if (value instanceof ObjectValue) return value.isZero?.() ?? false
  return value instanceof OptionalValue && value.value === undefined
}
