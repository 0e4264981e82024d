// The type of a custom object as merging sees it, from the schema in its CustomResourceDefinition (JSONSchemaProps as
// they are written). Metadata, at the top and in embedded objects, is that of every object.
import { compareTexts } from '../../meta/go/go-text.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { objectMetaSchema } from './builtin-schema.js'
import {
  DEDUCED,
  FREE_OBJECT,
  type ListSchema,
  type MapSchema,
  scalarSchema,
  type TypedSchema,
} from './typed-schema.js'

/** `schema` is an `openAPIV3Schema`. */
export function schemaOfCustomObjects(schema: Value | undefined): TypedSchema {
  if (!isObject(schema)) return { map: objectMap({}, false, TYPE_FIELDS) }
  return { map: objectMap(schema, schema[PRESERVE] === true, TYPE_FIELDS) }
}

const PRESERVE = 'x-kubernetes-preserve-unknown-fields'

const TYPE_FIELDS = (): Record<string, TypedSchema> => ({
  apiVersion: scalarSchema('string'),
  kind: scalarSchema('string'),
  metadata: objectMetaSchema(),
})

/** Once a part preserves unknown fields, so does all that is below it. */
function convert(schema: Value | undefined, preservedAbove: boolean): TypedSchema {
  if (!isObject(schema)) return DEDUCED
  const preserves = preservedAbove || schema[PRESERVE] === true
  switch (schema['type']) {
    case 'object':
      return { map: mapSchema(schema, preserves) }
    case 'array':
      return { list: listSchema(schema, preserves) }
    case 'string':
      return scalarSchema(schema['format'] === undefined || TEXT_FORMATS.has(schema['format']) ? 'string' : 'untyped')
    case 'boolean':
      return scalarSchema('boolean')
    case 'integer':
    case 'number':
      return scalarSchema('numeric')
    default:
      return { scalar: 'untyped', list: listSchema(schema, preserves), map: mapSchema(schema, preserves) }
  }
}

const TEXT_FORMATS: ReadonlySet<Value> = new Set(['', 'byte'])

const mapSchema = (schema: ValueObject, preserves: boolean): MapSchema =>
  objectMap(schema, preserves, schema['x-kubernetes-embedded-resource'] === true ? TYPE_FIELDS : undefined)

function objectMap(
  schema: ValueObject,
  preserves: boolean,
  typeFields: (() => Record<string, TypedSchema>) | undefined,
): MapSchema {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const hasFields = typeFields !== undefined || Object.keys(properties).length > 0
  const element = elementSchema(schema, preserves, hasFields)
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic'
  if (!hasFields && element === DEDUCED && !isAtomic) return FREE_OBJECT.map!
  // Properties are looked into when a value has them: a schema may be large, and deep.
  const fields = new Map(Object.entries(typeFields?.() ?? {}))
  const field = (name: string): TypedSchema | undefined => {
    const known = fields.get(name)
    if (known !== undefined || !Object.hasOwn(properties, name)) return known
    const converted = convert(properties[name], preserves)
    fields.set(name, converted)
    return converted
  }
  return { isAtomic, field, element, isDeduced: false }
}

function elementSchema(schema: ValueObject, preserves: boolean, hasFields: boolean): TypedSchema | undefined {
  const additional = getOwn(schema, 'additionalProperties')
  if (isObject(additional)) return convert(additional, preserves)
  if (additional === true) return DEDUCED
  if (additional === false) return undefined
  // Of an object that declares nothing, everything goes.
  return preserves || !hasFields ? DEDUCED : undefined
}

function listSchema(schema: ValueObject, preserves: boolean): ListSchema {
  const items = getOwn(schema, 'items')
  const listType = schema['x-kubernetes-list-type']
  const type = listType === 'set' || listType === 'map' ? listType : 'atomic'
  const keys = schema['x-kubernetes-list-map-keys']
  const properties = isObject(items) && isObject(items['properties']) ? items['properties'] : {}
  let element: TypedSchema | undefined
  return {
    type,
    keys: type === 'map' && Array.isArray(keys) ? keys.map(String).toSorted(compareTexts) : [],
    keyDefault(key) {
      const property = getOwn(properties, key)
      return isObject(property) ? getOwn(property, 'default') : undefined
    },
    get element() {
      element ??= items === undefined ? DEDUCED.list!.element : convert(items, preserves)
      return element
    },
  }
}
