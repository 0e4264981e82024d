// Macros over index and value, or key and value. `cel.@mapInsert` is what they build maps with.
import { mapOf, typeParam } from '../check/cel-type.js'
import type { Library } from '../environment.js'
import { TWO_VARIABLE_MACROS } from '../syntax/macros.js'

const K = typeParam('K')
const V = typeParam('V')

export const TWO_VARIABLE_LIBRARY: Library = {
  macros: TWO_VARIABLE_MACROS,
  functions: [
    {
      name: 'cel.@mapInsert',
      overloads: [
        { id: '@mapInsert_map_key_value', params: [mapOf(K, V), K, V], result: mapOf(K, V) },
        { id: '@mapInsert_map_map', params: [mapOf(K, V), mapOf(K, V)], result: mapOf(K, V) },
      ],
    },
  ],
}
