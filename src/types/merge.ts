// What merging must know of a type: whether a value is owned as one or part by part, and by what the items of a list
// are identified. It is compiled from `Type` once, part by part as values come to it.
import { compareTexts } from '../meta/go/go-text.js'
import { isObject, type Value } from '../meta/values/value.js'
import type { SpecialType } from './special/special-type.js'
import { compiledOnce, type Field, type Type } from './type.js'

/** A value may be a scalar, a list or a map. A type that is known only from values allows all three. */
export interface MergeType {
  readonly scalar?: ScalarType
  readonly list?: MergeList
  readonly map?: MergeMap
}

export type ScalarType = 'string' | 'numeric' | 'boolean' | 'untyped'

export interface MergeList {
  /** An atomic list has one owner; members of a set and items of a map list have their own. */
  readonly type: 'atomic' | 'set' | 'map'
  /** The fields that identify an item, in the order of their names. */
  readonly keys: readonly string[]
  /** The same in the order of the schema, for messages. */
  readonly writtenKeys: readonly string[]
  /** The value of a key in an item that leaves it out. */
  keyDefault(key: string): Value | undefined
  readonly element: MergeType
}

export interface MergeMap {
  readonly isAtomic: boolean
  /** The type of a field that is declared by name. */
  field(name: string): MergeType | undefined
  /** The type of all other members; if undefined, there may be no others. */
  readonly element: MergeType | undefined
  /** Nothing is declared: the types of members are known only from their values. */
  readonly isDeduced: boolean
}

/** The form in which a value is merged. */
export type Shape = 'scalar' | 'list' | 'map'

/** The type of a member, whether it is declared by name or not. */
export const memberType = (map: MergeMap, name: string): MergeType => map.field(name) ?? map.element ?? DEDUCED

/**
 * The shape of a value that a type allows. It is open for null in a type of several shapes: null takes the shape of the
 * other side of a merge.
 */
export function shapeOf(type: MergeType, value: Value): Shape | 'open' {
  if (value !== null) {
    if (Array.isArray(value)) {
      if (type.list) return 'list'
    } else if (isObject(value)) {
      if (type.map) return 'map'
    } else if (type.scalar) return 'scalar'
  }
  const count = (type.scalar ? 1 : 0) + (type.list ? 1 : 0) + (type.map ? 1 : 0)
  return count === 1 ? resolveShape(type, 'open') : 'open'
}

/** The shape in which a value is handled if its shape is still open. */
export function resolveShape(type: MergeType, shape: Shape | 'open'): Shape {
  if (shape !== 'open') return shape
  return type.map ? 'map' : type.scalar ? 'scalar' : 'list'
}

// ---- types that are known only from their values

const NO_DEFAULT = (): undefined => undefined
const NO_FIELD = (): undefined => undefined

const atomicList = (element: () => MergeType): MergeList => ({
  type: 'atomic',
  keys: [],
  writtenKeys: [],
  keyDefault: NO_DEFAULT,
  get element() {
    return element()
  },
})

const freeMap = (isAtomic: boolean, element: () => MergeType): MergeMap => ({
  isAtomic,
  field: NO_FIELD,
  get element() {
    return element()
  },
  isDeduced: !isAtomic,
})

/** Inside an atomic list everything is atomic. */
const UNTYPED_ATOMIC: MergeType = {
  scalar: 'untyped',
  list: atomicList(() => UNTYPED_ATOMIC),
  map: freeMap(true, () => UNTYPED_ATOMIC),
}

/** Objects are merged by field, lists are atomic. */
const DEDUCED: MergeType = {
  scalar: 'untyped',
  list: atomicList(() => UNTYPED_ATOMIC),
  map: freeMap(false, () => DEDUCED),
}

const SPECIAL: Readonly<Record<SpecialType['merge'], MergeType>> = {
  scalar: { scalar: 'untyped' },
  // JSON of a type that is not known here is taken as a whole. The rules of the kind refuse what is no object.
  atomic: UNTYPED_ATOMIC,
  any: DEDUCED,
}

// ---- from Type

export const mergeTypeOf = compiledOnce((type: Type): MergeType => {
  switch (type.kind) {
    case 'object':
    case 'map':
      return { map: mapOf(type) }
    case 'list':
      return { list: listOf(type) }
    case 'special':
      return SPECIAL[type.special!.merge]
    case 'any':
      return type === type.types.any ? DEDUCED : { scalar: 'untyped', list: listOf(type), map: mapOf(type) }
    case 'bool':
      return { scalar: 'boolean' }
    case 'string':
      // Strings that stand for something else, such as times, are compared like any other scalar.
      return { scalar: PLAIN_FORMATS.has(type.constraints.format) ? 'string' : 'untyped' }
    case 'bytes':
      return { scalar: 'string' }
    default:
      return { scalar: 'numeric' }
  }
})

const PLAIN_FORMATS: ReadonlySet<string> = new Set(['', 'byte'])

function mapOf(type: Type): MergeMap {
  const { fields, merge } = type
  const isAtomic = merge.map === 'atomic'
  const others = type.kind === 'map' ? type.element : type.additional
  if (fields.size === 0 && others === type.types.any && !isAtomic) return DEDUCED.map!
  const compiled = new Map<string, MergeType>()
  return {
    isAtomic,
    field(name) {
      let found = compiled.get(name)
      if (found !== undefined) return found
      const field = fields.get(name)
      if (field === undefined) return undefined
      found = mergeTypeOf(field.type)
      compiled.set(name, found)
      return found
    },
    element: others && mergeTypeOf(others),
    isDeduced: false,
  }
}

function listOf({ element, merge }: Type): MergeList {
  return {
    type: merge.list,
    keys: merge.list === 'map' ? merge.keys.toSorted(compareTexts) : [],
    writtenKeys: merge.list === 'map' ? merge.keys : [],
    keyDefault(key) {
      const field = element?.fields.get(key)
      return field && defaultOf(field)
    },
    get element() {
      return element ? mergeTypeOf(element) : UNTYPED_ATOMIC
    },
  }
}

/** In Go, a scalar that is always written has its zero as the default. */
function defaultOf({ default: value, go, type }: Field): Value | undefined {
  if (value !== undefined || go === undefined || go.spec.omitempty || go.spec.pointer) return value
  switch (type.kind) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'int32':
    case 'int64':
    case 'float64':
      return 0
    default:
      return undefined
  }
}
