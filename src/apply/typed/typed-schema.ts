// What merging must know of a type: whether a value is owned as one or part by part, and by what the items of a list
// are told apart. A type is any of a scalar, a list and a map; one that is only known from its values is all three.
import type { Value } from '../../meta/values/value.js'
import { isObject } from '../../meta/values/value.js'

export interface TypedSchema {
  readonly scalar?: ScalarType
  readonly list?: ListSchema
  readonly map?: MapSchema
}

export type ScalarType = 'string' | 'numeric' | 'boolean' | 'untyped'

export interface ListSchema {
  /** An atomic list has one owner; members of a set and items of a list by key have their own. */
  readonly type: 'atomic' | 'set' | 'map'
  /** By which fields items are told apart, in the order of their names. */
  readonly keys: readonly string[]
  /** What a key counts as in an item that leaves it out. */
  keyDefault(key: string): Value | undefined
  readonly element: TypedSchema
}

export interface MapSchema {
  readonly isAtomic: boolean
  /** The type of a field that is declared by name. */
  field(name: string): TypedSchema | undefined
  /** The type of all others; without one there are no others. */
  readonly element: TypedSchema | undefined
  /** Nothing is declared: what is below is only known from the values. */
  readonly isDeduced: boolean
}

/** The type of a member, whether declared by name or not. */
export const memberSchema = (map: MapSchema, name: string): TypedSchema => map.field(name) ?? map.element ?? DEDUCED

export const scalarSchema = (scalar: ScalarType): TypedSchema => ({ scalar })

const NO_DEFAULT = (): undefined => undefined
const NO_FIELD = (): undefined => undefined

const atomicList = (element: () => TypedSchema): ListSchema => ({
  type: 'atomic',
  keys: [],
  keyDefault: NO_DEFAULT,
  get element() {
    return element()
  },
})

const freeMap = (isAtomic: boolean, element: () => TypedSchema): MapSchema => ({
  isAtomic,
  field: NO_FIELD,
  get element() {
    return element()
  },
  isDeduced: !isAtomic,
})

/** Of which only values tell: objects are merged by field, lists are atomic. */
export const DEDUCED: TypedSchema = {
  scalar: 'untyped',
  list: atomicList(() => UNTYPED_ATOMIC),
  map: freeMap(false, () => DEDUCED),
}

/** The same inside an atomic list. */
const UNTYPED_ATOMIC: TypedSchema = {
  scalar: 'untyped',
  list: atomicList(() => UNTYPED_ATOMIC),
  map: freeMap(true, () => UNTYPED_ATOMIC),
}

/** An object of which nothing is declared. */
export const FREE_OBJECT: TypedSchema = { map: DEDUCED.map! }

/** The form in which a value of a type is handled. */
export type Form = 'scalar' | 'list' | 'map'

/**
 * The form of a value that a type allows. A type of several forms leaves it open for null, which takes whatever form
 * the other side of a merge has.
 */
export function formOf(schema: TypedSchema, value: Value): Form | 'open' {
  if (value !== null) {
    if (Array.isArray(value)) {
      if (schema.list) return 'list'
    } else if (isObject(value)) {
      if (schema.map) return 'map'
    } else if (schema.scalar) return 'scalar'
  }
  const count = (schema.scalar ? 1 : 0) + (schema.list ? 1 : 0) + (schema.map ? 1 : 0)
  return count === 1 ? settled(schema, 'open') : 'open'
}

/** How an open form is handled in the end. */
export function settled(schema: TypedSchema, form: Form | 'open'): Form {
  if (form !== 'open') return form
  return schema.map ? 'map' : schema.scalar ? 'scalar' : 'list'
}
