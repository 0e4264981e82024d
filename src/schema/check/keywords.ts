// The keywords of each node: those that are refused, types, list and map types. Nodes in junctors and definitions are
// checked like any other.
import {
  asString,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { isTypeOrMetadata } from '../shape/shape.js'
import { EMPTY_SCHEMA, type Schema } from '../structure/structural.js'
import { checkRuleShapes } from './rule-shape.js'

/** What follows for a node from its position. */
interface SchemaPosition {
  /** Why there may be no default here; empty if there may. */
  readonly noDefaults: string
  /** Inside the metadata of a resource, its own or an embedded one's. */
  readonly inMetadata: boolean
  readonly isRoot: boolean
}

export interface CheckedKeywords {
  readonly errors: readonly FieldError[]
  /** The nodes that have errors, in themselves or below. */
  readonly hasErrors: ReadonlySet<Schema>
}

export function checkKeywords(schema: Schema, at: string, noDefaults = ''): CheckedKeywords {
  const found: Found = { errors: [], hasErrors: new Set() }
  visit(schema, at, { noDefaults, inMetadata: false, isRoot: true }, found)
  return found
}

interface Found {
  readonly errors: FieldError[]
  readonly hasErrors: Set<Schema>
}

function visit(schema: Schema, at: string, position: SchemaPosition, found: Found): void {
  const before = found.errors.length
  checkNode(schema, at, position, found.errors)
  visitBelow(schema, at, position, found)
  if (found.errors.length > before) found.hasErrors.add(schema)
}

function visitBelow(schema: Schema, at: string, position: SchemaPosition, found: Found): void {
  const below: SchemaPosition = position.isRoot ? { ...position, isRoot: false } : position
  const { items, additionalProperties, properties, checks, refused } = schema
  if (typeof additionalProperties === 'object') {
    const noDefaults = position.inMetadata
      ? 'inside additionalProperties applying to object metadata'
      : position.noDefaults
    visit(additionalProperties, childPath(at, 'additionalProperties'), { ...below, noDefaults }, found)
  }
  for (const [name, property] of properties) {
    visit(property, keyPath(childPath(at, 'properties'), name), positionOf(name, schema, position), found)
  }
  if (checks.not !== undefined) visit(checks.not, childPath(at, 'not'), below, found)
  for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, branch] of checks[junctor].entries()) {
      if (branch === EMPTY_SCHEMA) continue
      visit(branch, indexPath(childPath(at, junctor), i), below, found)
    }
  }
  for (const [name, definition] of refused.definitions) {
    visit(definition, keyPath(childPath(at, 'definitions'), name), below, found)
  }
  if (items !== undefined) visit(items, childPath(at, 'items'), below, found)
  for (const [i, item] of refused.itemList.entries()) visit(item, indexPath(childPath(at, 'items'), i), below, found)
  for (const [name, dependency] of refused.dependencies ?? []) {
    if (dependency !== undefined) visit(dependency, keyPath(childPath(at, 'dependencies'), name), below, found)
  }
}

function positionOf(name: string, { extensions }: Schema, position: SchemaPosition): SchemaPosition {
  const isResource = position.isRoot || extensions.embeddedResource
  if (!isResource || !isTypeOrMetadata(name)) return position.isRoot ? { ...position, isRoot: false } : position
  return {
    noDefaults: position.isRoot && position.noDefaults === '' ? `in top-level ${name}` : position.noDefaults,
    inMetadata: position.inMetadata || name === 'metadata',
    isRoot: false,
  }
}

function checkNode(schema: Schema, at: string, position: SchemaPosition, errors: FieldError[]): void {
  const { type, extensions, checks, refused, properties, additionalProperties } = schema
  const forbid = (keyword: string, why: string): void => {
    errors.push(fieldForbidden(childPath(at, keyword), why))
  }
  if (position.noDefaults !== '' && schema.default !== undefined)
    forbid('default', `must not be set ${position.noDefaults}`)
  if (refused.id !== '') forbid('id', 'id is not supported')
  if (refused.additionalItems) forbid('additionalItems', 'additionalItems is not supported')
  if (refused.patternProperties) forbid('patternProperties', 'patternProperties is not supported')
  if (refused.definitions.size > 0) forbid('definitions', 'definitions is not supported')
  if (refused.dependencies !== undefined) forbid('dependencies', 'dependencies is not supported')
  if (refused.ref) forbid('$ref', '$ref is not supported')
  if (refused.itemList.length > 0) forbid('items', 'items must be a schema object and not an array')
  if (checks.uniqueItems) {
    forbid('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic')
  }
  if (position.inMetadata && extensions.embeddedResource) {
    forbid('x-kubernetes-embedded-resource', 'must not be used inside of resource meta')
  }
  if (type === 'null') forbid('type', 'type cannot be set to null, use nullable as an alternative')
  if (type !== '' && !TYPES.includes(type)) errors.push(fieldNotSupported(childPath(at, 'type'), asString(type), TYPES))
  // Objects have either named members or any: `true` beside properties is what it would be without.
  if (properties.size > 0 && additionalProperties !== undefined && additionalProperties !== true) {
    forbid('additionalProperties', 'additionalProperties and properties are mutual exclusive')
  }
  if (extensions.preserveUnknownFields === false) {
    const field = childPath(at, 'x-kubernetes-preserve-unknown-fields')
    errors.push(fieldInvalid(field, false, 'must be true or undefined'))
  }
  checkMapType(schema, at, errors)
  checkListType(schema, at, errors)
  errors.push(...checkRuleShapes(schema, childPath(at, 'x-kubernetes-validations')))
}

const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']

function checkMapType({ type, extensions }: Schema, at: string, errors: FieldError[]): void {
  const { mapType } = extensions
  if (mapType === undefined) return
  if (type !== 'object') errors.push(wrongType(type, at, 'must be object if x-kubernetes-map-type is specified'))
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(fieldNotSupported(childPath(at, 'x-kubernetes-map-type'), asString(mapType), ['atomic', 'granular']))
  }
}

function checkListType(schema: Schema, at: string, errors: FieldError[]): void {
  const { type, extensions } = schema
  const { listType, listMapKeys } = extensions
  const typeField = childPath(at, 'x-kubernetes-list-type')
  if (listType !== undefined) {
    if (type !== 'array') errors.push(wrongType(type, at, 'must be array if x-kubernetes-list-type is specified'))
    if (!LIST_TYPES.includes(listType)) errors.push(fieldNotSupported(typeField, asString(listType), LIST_TYPES))
  }
  if (listMapKeys.length > 0 && listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? fieldRequired(typeField, why) : fieldInvalid(typeField, listType, why))
  }
  if (listType === 'map') checkListMap(schema, at, errors)
  if (listType === 'set') checkSetItems(schema, at, errors)
  if (listType === 'map' || listType === 'set') {
    if (schema.items?.nullable === true) {
      const field = childPath(childPath(at, 'items'), 'nullable')
      errors.push(fieldForbidden(field, `cannot be nullable when x-kubernetes-list-type is ${listType}`))
    }
  }
}

const LIST_TYPES: readonly string[] = ['atomic', 'set', 'map']

const wrongType = (type: string, at: string, why: string): FieldError =>
  type === '' ? fieldRequired(childPath(at, 'type'), why) : fieldInvalid(childPath(at, 'type'), type, why)

function checkListMap({ items, extensions, refused }: Schema, at: string, errors: FieldError[]): void {
  const { listMapKeys } = extensions
  const itemsField = childPath(at, 'items')
  const keysField = childPath(at, 'x-kubernetes-list-map-keys')
  if (listMapKeys.length === 0) {
    errors.push(fieldRequired(keysField, 'must not be empty if x-kubernetes-list-type is map'))
  }
  if (items === undefined) {
    if (refused.itemList.length > 0) return
    errors.push(fieldRequired(itemsField, 'must have a schema if x-kubernetes-list-type is map'))
    return
  }
  if (items.type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(fieldInvalid(childPath(itemsField, 'type'), items.type, why))
  }
  const seen = new Set<string>()
  for (const key of listMapKeys) {
    const property = items.properties.get(key)
    const field = keyPath(childPath(itemsField, 'properties'), key)
    if (items.type === 'object') {
      if (property === undefined) {
        errors.push(fieldInvalid(keysField, [...listMapKeys], 'entries must all be names of item properties'))
      } else if (property.type === 'array' || property.type === 'object') {
        // The type that is shown is that of the item.
        const why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
        errors.push(fieldInvalid(childPath(field, 'type'), items.type, why))
      }
      if (seen.has(key)) errors.push(fieldInvalid(keysField, [...listMapKeys], 'must not contain duplicate entries'))
      seen.add(key)
    }
    if (property === undefined) continue
    if (!items.checks.required.includes(key) && property.default === undefined) {
      const why = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
      errors.push(fieldRequired(childPath(field, 'default'), why))
    }
    if (property.nullable) {
      const why = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'
      errors.push(fieldForbidden(childPath(field, 'nullable'), why))
    }
  }
}

/** Items of a set are compared as wholes, so that no manager can own a part of one. */
function checkSetItems({ items }: Schema, at: string, errors: FieldError[]): void {
  if (items === undefined) return
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const { listType, mapType } = items.extensions
  const field = childPath(at, 'items')
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.push(fieldInvalid(childPath(field, 'x-kubernetes-list-type'), listType, why))
  }
  if (items.type === 'object' && mapType !== 'atomic') {
    // What is shown is the list type of the item, which an object does not have.
    errors.push(fieldInvalid(childPath(field, 'x-kubernetes-map-type'), listType ?? null, why))
  }
}
