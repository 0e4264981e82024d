// The types of the built-in kinds as merging sees them, from the facts in the type table. Types refer to themselves, as
// JSONSchemaProps do, so that each is looked into only when a value is.

import { compareTexts } from '../../meta/go/go-text.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { zeroOf } from '../../types/decode.js'
import { builtinTypes, type Field, type FieldFacts, type TypeRef, type TypeTable } from '../../types/type-table.js'
import {
  DEDUCED,
  FREE_OBJECT,
  type ListSchema,
  type MapSchema,
  scalarSchema,
  type TypedSchema,
} from './typed-schema.js'

const known = new WeakMap<TypeTable, Map<string, TypedSchema>>()

/** The type of that name. */
export function schemaOfType(table: TypeTable, typeName: string): TypedSchema {
  let schemas = known.get(table)
  if (schemas === undefined) {
    schemas = new Map()
    known.set(table, schemas)
  }
  let schema = schemas.get(typeName)
  if (schema === undefined) {
    schema = SPECIAL[typeName] ?? structSchema(table, typeName)
    schemas.set(typeName, schema)
  }
  return schema
}

/** The type of a built-in kind; nothing for others. */
export function schemaOfKind(table: TypeTable, apiVersion: string, kind: string): TypedSchema | undefined {
  const typeName = table.typeOfKind(apiVersion, kind)
  return typeName === undefined ? undefined : schemaOfType(table, typeName)
}

/** What an object of a built-in kind is before anything is set: structs are there, even if nothing is in them. */
export function emptyOfKind(table: TypeTable, apiVersion: string, kind: string): ValueObject {
  const typeName = table.typeOfKind(apiVersion, kind)
  const zero = typeName === undefined ? {} : zeroOf(table, typeName)
  return { ...(isObject(zero) ? zero : {}), apiVersion, kind }
}

/** Every object's metadata, custom ones included. */
export const objectMetaSchema = (): TypedSchema => schemaOfType(builtinTypes(), 'meta/v1.ObjectMeta')

/** Those that are written otherwise than their fields say. */
const SPECIAL: Readonly<Record<string, TypedSchema>> = {
  'meta/v1.Time': scalarSchema('untyped'),
  'meta/v1.MicroTime': scalarSchema('untyped'),
  'meta/v1.Duration': scalarSchema('string'),
  'api/resource.Quantity': DEDUCED,
  'util/intstr.IntOrString': DEDUCED,
  'runtime.RawExtension': FREE_OBJECT,
  'meta/v1.FieldsV1': FREE_OBJECT,
  'apiextensions/v1.JSON': DEDUCED,
  'apiextensions/v1.JSONSchemaPropsOrArray': DEDUCED,
  'apiextensions/v1.JSONSchemaPropsOrBool': DEDUCED,
  'apiextensions/v1.JSONSchemaPropsOrStringArray': DEDUCED,
}

function structSchema(table: TypeTable, typeName: string): TypedSchema {
  const { byName, facts } = table.type(typeName)
  if (byName.size === 0) return FREE_OBJECT
  const fields = new Map<string, TypedSchema>()
  const map: MapSchema = {
    isAtomic: facts['map-type'] === 'atomic',
    field(name) {
      let schema = fields.get(name)
      if (schema !== undefined) return schema
      const field = byName.get(name)
      if (field === undefined) return undefined
      schema = schemaOfField(table, field.type, field.facts)
      fields.set(name, schema)
      return schema
    },
    element: undefined,
    isDeduced: false,
  }
  return { map }
}

function schemaOfField(table: TypeTable, type: TypeRef, facts: FieldFacts): TypedSchema {
  switch (type.is) {
    case 'list':
      return { list: listSchema(table, type.of, facts) }
    case 'map':
      return { map: mapOf(schemaOfField(table, type.of, NO_ATTRIBUTES), facts.mapType === 'atomic') }
    case 'type': {
      const schema = schemaOfType(table, type.name)
      if (facts.mapType !== 'atomic' || !schema.map) return schema
      return { map: { ...schema.map, field: name => schema.map!.field(name), isAtomic: true } }
    }
    case 'bool':
      return scalarSchema('boolean')
    case 'string':
    case 'bytes':
      return scalarSchema('string')
    default:
      return scalarSchema('numeric')
  }
}

const NO_ATTRIBUTES: FieldFacts = { type: '' }

const mapOf = (element: TypedSchema, isAtomic: boolean): MapSchema => ({
  isAtomic,
  field: () => undefined,
  element,
  isDeduced: false,
})

function listSchema(table: TypeTable, of: TypeRef, facts: FieldFacts): ListSchema {
  const { type, keys } = listType(facts)
  return {
    type,
    keys: keys.toSorted(compareTexts),
    keyDefault(key) {
      const field = of.is === 'type' ? table.type(of.name).byName.get(key) : undefined
      return field && defaultOf(field)
    },
    get element() {
      return schemaOfField(table, of, NO_ATTRIBUTES)
    },
  }
}

/** Where the newer facts are missing, those of strategic merge say the same. */
function listType({ listType: type, listMapKeys, patchStrategy = '', patchMergeKey }: FieldFacts): {
  type: ListSchema['type']
  keys: readonly string[]
} {
  if (type === 'map') return { type, keys: listMapKeys ?? [] }
  if (type === 'set') return { type, keys: [] }
  if (type === undefined && patchStrategy.split(',').includes('merge')) {
    return patchMergeKey === undefined ? { type: 'set', keys: [] } : { type: 'map', keys: [patchMergeKey] }
  }
  return { type: 'atomic', keys: [] }
}

/** A scalar that is always written has its zero as the default. */
function defaultOf({ facts, type }: Field): Value | undefined {
  if (facts.default !== undefined) return facts.default
  if (facts.omitempty || facts.pointer) return undefined
  switch (type.is) {
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
