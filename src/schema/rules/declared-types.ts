// What rules know of values: the type in the expression language of each node of a schema, its fields by the names that
// rules use, and how large a value can get in one request. Parts without a type are hidden: they have no declared type,
// and neither have lists and maps of them.
import { type CelType, type ObjectTypes, types } from '../../cel/index.js'
import type { Value } from '../../meta/values/value.js'
import { parseSchema, type Schema } from '../structure/structural.js'
import { escapeName, isReserved } from './field-names.js'

export interface DeclaredType {
  /** `dyn` is int-or-string. */
  readonly kind:
    | 'object'
    | 'map'
    | 'list'
    | 'string'
    | 'bytes'
    | 'timestamp'
    | 'duration'
    | 'bool'
    | 'int'
    | 'double'
    | 'dyn'
  readonly type: CelType
  /** The node; where a resource has fields that its schema does not tell of, the node that stands in for it. */
  readonly schema: Schema
  /** The fields of an object by the names that rules use. */
  readonly fields: ReadonlyMap<string, DeclaredField>
  /** Properties of an object that rules see from below only, as they cannot spell their names. */
  readonly unnamed: ReadonlyMap<string, DeclaredType>
  /** What a list or map holds. */
  readonly element: DeclaredType | undefined
  /** The most items, entries, characters or bytes that it may have; 0 where it is of no size. */
  readonly maxSize: number
  /** The fewest bytes that it takes up in JSON. */
  readonly minBytes: number
}

export interface DeclaredField {
  readonly property: string
  readonly declared: DeclaredType
}

export interface Declarations {
  readonly root: DeclaredType
  /** The object types in it, for the environment of expressions. */
  readonly objectTypes: ObjectTypes
}

/**
 * Declares a schema with all that is below it; undefined where it is hidden. The root of a custom resource and embedded
 * resources have apiVersion, kind and the names in metadata whatever their schema says.
 */
export function declareTypes(
  schema: Schema,
  { isResource }: { readonly isResource: boolean },
): Declarations | undefined {
  const objects = new Map<string, DeclaredType>()
  const root = new Declarer(objects).declare(schema, isResource, ROOT_NAME)
  if (root === undefined) return undefined
  const objectTypes: ObjectTypes = {
    has: name => objects.has(name),
    field(type, field) {
      const declared = objects.get(type)
      return declared === undefined ? undefined : fieldOf(declared, field)?.declared.type
    },
  }
  return { root, objectTypes }
}

/** A field by the name that a rule selects: escaped, or a reserved word as it is. */
export function fieldOf({ fields }: DeclaredType, name: string): DeclaredField | undefined {
  return fields.get(name) ?? (isReserved(name) ? fields.get(`__${name}__`) : undefined)
}

const ROOT_NAME = 'selfType'
/** Names of types tell where they stand, unless that gets too long. */
const MAX_NAME = 256

const NO_FIELDS: ReadonlyMap<string, DeclaredField> = new Map()
const NONE_UNNAMED: ReadonlyMap<string, DeclaredType> = new Map()

class Declarer {
  constructor(private readonly objects: Map<string, DeclaredType>) {}

  declare(written: Schema, isResource: boolean, name: string): DeclaredType | undefined {
    if (written.extensions.intOrString) {
      return scalar('dyn', types.DYN, written, 1, maxCharacters(written) ?? MAX_TEXT)
    }
    const schema = isResource ? withResourceFields(written) : written
    switch (schema.type) {
      case 'array':
        return this.declareList(schema, name)
      case 'object':
        return typeof schema.additionalProperties === 'object'
          ? this.declareMap(schema, schema.additionalProperties, name)
          : this.declareObject(schema, name)
      case 'string':
        return declareText(schema)
      case 'boolean':
        return scalar('bool', types.BOOL, schema, 4, 0)
      case 'number':
        return scalar('double', types.DOUBLE, schema, 1, 0)
      case 'integer':
        return scalar('int', types.INT, schema, 1, 0)
      default:
        return undefined
    }
  }

  private below(schema: Schema, name: string): DeclaredType | undefined {
    return this.declare(schema, schema.extensions.embeddedResource, name)
  }

  private declareList(schema: Schema, name: string): DeclaredType | undefined {
    const element = schema.items && this.below(schema.items, `${name}.@idx`)
    if (element === undefined) return undefined
    const { maxItems } = schema.checks
    return {
      kind: 'list',
      type: types.listOf(element.type),
      schema,
      fields: NO_FIELDS,
      unnamed: NONE_UNNAMED,
      element,
      maxSize: maxItems === undefined ? fitting(element.minBytes + 1) : Math.max(maxItems, 0),
      minBytes: 2,
    }
  }

  private declareMap(schema: Schema, values: Schema, name: string): DeclaredType | undefined {
    const element = this.below(values, `${name}.@elem`)
    if (element === undefined) return undefined
    const { maxProperties } = schema.checks
    return {
      kind: 'map',
      type: types.mapOf(types.STRING, element.type),
      schema,
      fields: NO_FIELDS,
      unnamed: NONE_UNNAMED,
      element,
      // A key of two characters at least, its quotes, a colon and a comma.
      maxSize: maxProperties === undefined ? fitting(element.minBytes + 6) : Math.max(maxProperties, 0),
      minBytes: 2,
    }
  }

  private declareObject(schema: Schema, wanted: string): DeclaredType {
    const name = wanted.length > MAX_NAME ? `${ROOT_NAME}${this.objects.size}` : wanted
    const fields = new Map<string, DeclaredField>()
    let unnamed: Map<string, DeclaredType> | undefined
    const required = new Set(schema.checks.required)
    let minBytes = 2
    for (const [property, child] of schema.properties) {
      const field = escapeName(property)
      const declared = this.below(child, `${name}.${field ?? `@${unnamed?.size ?? 0}`}`)
      if (declared === undefined) continue
      if (field === undefined) unnamed = (unnamed ?? new Map<string, DeclaredType>()).set(property, declared)
      else fields.set(field, { property, declared })
      // Its name in quotes, a colon and a comma. What has a default need not be sent.
      if (required.has(property) && child.default === undefined) {
        minBytes += Buffer.byteLength(property) + declared.minBytes + 4
      }
    }
    const declared: DeclaredType = {
      kind: 'object',
      type: types.objectType(name),
      schema,
      fields,
      unnamed: unnamed ?? NONE_UNNAMED,
      element: undefined,
      maxSize: 0,
      minBytes,
    }
    this.objects.set(name, declared)
    return declared
  }
}

function declareText(schema: Schema): DeclaredType {
  const { format, maxLength, enum: values } = schema.checks
  switch (format) {
    case 'byte':
      return scalar('bytes', types.BYTES, schema, 2, maxLength === undefined ? MAX_TEXT : Math.max(maxLength, 0))
    case 'duration':
      return scalar('duration', types.DURATION, schema, 3, 32)
    case 'date':
      return scalar('timestamp', types.TIMESTAMP, schema, 12, 12)
    case 'date-time':
      return scalar('timestamp', types.TIMESTAMP, schema, 21, 32)
  }
  const maxSize = maxCharacters(schema) ?? (values.length > 0 ? maxText(values) : MAX_TEXT)
  return scalar('string', types.STRING, schema, 2, maxSize)
}

const maxText = (values: readonly Value[]): number =>
  values.reduce<number>((max, value) => (typeof value === 'string' ? Math.max(max, Buffer.byteLength(value)) : max), 0)

const scalar = (
  kind: DeclaredType['kind'],
  type: CelType,
  schema: Schema,
  minBytes: number,
  maxSize: number,
): DeclaredType => ({
  kind,
  type,
  schema,
  fields: NO_FIELDS,
  unnamed: NONE_UNNAMED,
  element: undefined,
  maxSize,
  minBytes,
})

// ---- sizes

/** The largest body that a request may have. */
const MAX_REQUEST_BYTES = 3 * 1024 * 1024
const MAX_TEXT = MAX_REQUEST_BYTES - 2

/** How many things of some bytes each fit into a request, in their brackets. */
const fitting = (bytes: number): number => Math.floor((MAX_REQUEST_BYTES - 2) / bytes)

/** How many values of a type fit into one request, a comma behind each. */
export const timesInRequest = ({ minBytes }: DeclaredType): number => Math.floor(MAX_REQUEST_BYTES / (minBytes + 1))

/** Lengths of texts are counted in characters, costs in bytes; a character has up to four. */
function maxCharacters({ checks: { maxLength } }: Schema): number | undefined {
  return maxLength === undefined ? undefined : Math.max(maxLength, 0) * 4
}

// ---- resources

const ANY_TEXT = parseSchema({ type: 'string' })
const METADATA = parseSchema({
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
})

/** A schema that tells of all these fields is taken at its word; in any other they are what they are everywhere. */
function withResourceFields(schema: Schema): Schema {
  const { properties } = schema
  const metadata = properties.get('metadata')
  const tellsAll =
    properties.get('kind')?.type === 'string' &&
    properties.get('apiVersion')?.type === 'string' &&
    metadata?.type === 'object' &&
    metadata.properties.get('name')?.type === 'string' &&
    metadata.properties.get('generateName')?.type === 'string'
  if (tellsAll) return schema
  const all = new Map(properties).set('kind', ANY_TEXT).set('apiVersion', ANY_TEXT).set('metadata', METADATA)
  return { ...schema, properties: all }
}
