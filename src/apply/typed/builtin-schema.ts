// The types of the built-in kinds as merging sees them, from the facts in the type table. Types refer to themselves, as
// JSONSchemaProps do, so that each is looked into only when a value is.

import { compareTexts } from '../../meta/go/go-text.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { zeroOf } from '../../types/decode.js'
import { compiledOnce, type Field, type Type, type Types } from '../../types/type.js'
import { builtinTypes } from '../../types/type-table.js'
import {
  DEDUCED,
  FREE_OBJECT,
  type ListSchema,
  type MapSchema,
  scalarSchema,
  type TypedSchema,
} from './typed-schema.js'

/** The type as merging sees it. */
export const schemaOfType = compiledOnce((type: Type): TypedSchema => {
  switch (type.kind) {
    case 'list':
      return { list: listSchema(type) }
    case 'map':
      return { map: mapOf(type) }
    case 'object':
      return structSchema(type)
    case 'special':
      return SPECIAL[type.special!.merge]
    case 'any':
      return DEDUCED
    case 'bool':
      return scalarSchema('boolean')
    case 'string':
    case 'bytes':
      return scalarSchema('string')
    default:
      return scalarSchema('numeric')
  }
})

/** The type of a built-in kind; nothing for others. */
export function schemaOfKind(types: Types, apiVersion: string, kind: string): TypedSchema | undefined {
  const type = types.ofKind(apiVersion, kind)
  return type && schemaOfType(type)
}

/** What an object of a built-in kind is before anything is set: structs are there, even if nothing is in them. */
export function emptyOfKind(types: Types, apiVersion: string, kind: string): ValueObject {
  const type = types.ofKind(apiVersion, kind)
  const zero = type === undefined ? {} : zeroOf(type)
  return { ...(isObject(zero) ? zero : {}), apiVersion, kind }
}

/** Every object's metadata, custom ones included. */
export const objectMetaSchema = (): TypedSchema => schemaOfType(builtinTypes().byName('meta/v1.ObjectMeta'))

const SPECIAL: Readonly<Record<'scalar' | 'object' | 'any', TypedSchema>> = {
  scalar: scalarSchema('untyped'),
  object: FREE_OBJECT,
  any: DEDUCED,
}

function structSchema({ fields, merge }: Type): TypedSchema {
  if (fields.size === 0) return FREE_OBJECT
  const schemas = new Map<string, TypedSchema>()
  const map: MapSchema = {
    isAtomic: merge.map === 'atomic',
    field(name) {
      let schema = schemas.get(name)
      if (schema !== undefined) return schema
      const field = fields.get(name)
      if (field === undefined) return undefined
      schema = schemaOfType(field.type)
      schemas.set(name, schema)
      return schema
    },
    element: undefined,
    isDeduced: false,
  }
  return { map }
}

const mapOf = ({ element, merge }: Type): MapSchema => ({
  isAtomic: merge.map === 'atomic',
  field: () => undefined,
  element: schemaOfType(element!),
  isDeduced: false,
})

function listSchema({ element, merge }: Type): ListSchema {
  return {
    type: merge.list,
    keys: merge.keys.toSorted(compareTexts),
    keyDefault(key) {
      const field = element!.fields.get(key)
      return field && defaultOf(field)
    },
    get element() {
      return schemaOfType(element!)
    },
  }
}

/** A scalar that is always written has its zero as the default. */
function defaultOf({ default: value, go, type }: Field): Value | undefined {
  if (value !== undefined) return value
  if (go?.spec.omitempty || go?.spec.pointer) return undefined
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
