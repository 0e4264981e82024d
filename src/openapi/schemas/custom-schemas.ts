// The schemas of custom kinds: those of their definitions, with the standard apiVersion, kind and metadata. Version 2 is
// lossy: it omits what older clients cannot handle.
import { encodeJson } from '../../codec/json.js'
import { equalValues, getOwn, isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import type { Type } from '../../types/type.js'
import { customDefinitionOf, LIST_META, OBJECT_META } from './definition-names.js'
import { DESCRIPTIONS, describeItems } from './descriptions.js'
import type { Definition, Dialect } from './dialect.js'

export interface CustomKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly type: Type
  /** Paths: `.spec.color`. */
  readonly selectableFields: readonly string[]
}

/** The definition of the kind and that of its list, by name. */
export function customDefinitions(custom: CustomKind, dialect: Dialect): Map<string, Definition> {
  const { group, version, kind, listKind, type, selectableFields } = custom
  const name = customDefinitionOf(group, version, kind)
  const extensions = (named: string): ValueObject => ({
    'x-kubernetes-group-version-kind': [{ group, kind: named, version }],
    ...(selectableFields.length > 0 && {
      'x-kubernetes-selectable-fields': selectableFields.map(path => ({
        fieldPath: path.replace(/^\./, ''),
      })),
    }),
  })
  const own = { ...objectSchema(type.written, dialect), ...extensions(kind) }
  const list = { ...listSchema(name, custom, dialect), ...extensions(listKind) }
  return new Map([
    [name, { json: Buffer.from(encodeJson(own)), needs: [OBJECT_META] }],
    [customDefinitionOf(group, version, listKind), { json: Buffer.from(encodeJson(list)), needs: [LIST_META, name] }],
  ])
}

function objectSchema(schema: ValueObject | undefined, dialect: Dialect): ValueObject {
  // Clients of version 2 treat the listed properties as complete, so none are listed if unknown fields are preserved.
  if (!schema || (dialect.version === 2 && isTrue(schema, PRESERVES))) return { type: 'object' }
  const { properties, ...own } = publish(schema, dialect)
  return { ...own, properties: { ...(properties as ValueObject | undefined), ...standardProperties(dialect) } }
}

const listSchema = (name: string, { kind, listKind, plural }: CustomKind, dialect: Dialect): ValueObject => ({
  description: `${listKind} is a list of ${kind}`,
  type: 'object',
  required: ['items'],
  properties: {
    apiVersion: typeMeta('apiVersion'),
    items: { description: describeItems(plural), type: 'array', items: dialect.refTo(name) },
    kind: typeMeta('kind'),
    metadata: dialect.refBeside(LIST_META, { description: DESCRIPTIONS.listMetadata }),
  },
})

const standardProperties = (dialect: Dialect): ValueObject => ({
  apiVersion: typeMeta('apiVersion'),
  kind: typeMeta('kind'),
  metadata: dialect.refBeside(OBJECT_META, { description: DESCRIPTIONS.metadata }),
})

const typeMeta = (name: 'apiVersion' | 'kind'): ValueObject => ({ description: DESCRIPTIONS[name], type: 'string' })

// ---- a schema and its subschemas

const PRESERVES = 'x-kubernetes-preserve-unknown-fields'
const EMBEDS = 'x-kubernetes-embedded-resource'
const INT_OR_STRING = 'x-kubernetes-int-or-string'

/** Keywords that are copied, without those that contain schemas. False and empty values are omitted. */
const COPIED = [
  'description',
  'type',
  'format',
  'title',
  'nullable',
  'default',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'enum',
  'maxProperties',
  'minProperties',
  'required',
  'externalDocs',
  'example',
  PRESERVES,
  EMBEDS,
  INT_OR_STRING,
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
]

/** Keywords whose values may be empty or false. */
const VALUES = new Set(['default', 'example', 'enum'])

function publish(schema: ValueObject, dialect: Dialect): ValueObject {
  return dialect.version === 2 ? publishForOldClients(schema, dialect) : publishComplete(schema, dialect)
}

function publishComplete(schema: ValueObject, dialect: Dialect): ValueObject {
  const out: ValueObject = { ...copied(schema, dialect), ...junctors(schema), ...within(schema, dialect) }
  if (isTrue(schema, INT_OR_STRING)) unfoldIntOrString(out)
  return isTrue(schema, EMBEDS) ? embed(out, dialect) : out
}

function publishForOldClients(schema: ValueObject, dialect: Dialect): ValueObject {
  const isNullable = isTrue(schema, 'nullable')
  const preserves = isTrue(schema, PRESERVES)
  const { nullable: _, ...out }: ValueObject = { ...copied(schema, dialect), ...within(schema, dialect) }
  if (isNullable) delete out['type']
  // Clients fail on items or properties without a type.
  if (isNullable || preserves) {
    delete out['items']
    delete out['properties']
  }
  if (preserves && out['type'] === 'object') delete out['type']
  if (out['type'] === 'array' && !('items' in out)) delete out['type']
  dropNullableRequired(schema, out)
  return isTrue(schema, EMBEDS) && !preserves ? embed(out, dialect) : out
}

/** A nullable field cannot be required, because older clients do not know null. */
function dropNullableRequired(schema: ValueObject, out: ValueObject): void {
  const required = out['required']
  if (!Array.isArray(required)) return
  const values = getOwn(schema, 'additionalProperties')
  if (isObject(values) && isTrue(values, 'nullable')) {
    delete out['required']
    return
  }
  const properties = 'properties' in out ? membersOf(schema, 'properties') : {}
  const kept = required.filter(name => {
    const property = getOwn(properties, name as string)
    return !(isObject(property) && isTrue(property, 'nullable'))
  })
  if (kept.length > 0) out['required'] = kept
  else delete out['required']
}

function copied(schema: ValueObject, dialect: Dialect): ValueObject {
  const out: ValueObject = {}
  for (const name of COPIED) {
    const value = getOwn(schema, name)
    if (value === undefined || value === null) continue
    if (name === 'default' && !dialect.hasDefaults) continue
    if (VALUES.has(name) ? isEmptyList(name, value) : isEmpty(value)) continue
    out[name] = value
  }
  return out
}

const isEmptyList = (name: string, value: Value): boolean =>
  name === 'enum' && Array.isArray(value) && value.length === 0

const isEmpty = (value: Value): boolean =>
  value === false || value === '' || (Array.isArray(value) && value.length === 0)

function within(schema: ValueObject, dialect: Dialect): ValueObject {
  const items = getOwn(schema, 'items')
  const additional = getOwn(schema, 'additionalProperties')
  const properties = getOwn(schema, 'properties')
  return {
    ...(isObject(items) && { items: publish(items, dialect) }),
    ...(hasMembers(properties) && { properties: eachMember(properties, one => publish(one, dialect)) }),
    ...(isObject(additional) && { additionalProperties: publish(additional, dialect) }),
    ...(typeof additional === 'boolean' && { additionalProperties: additional }),
  }
}

/** `allOf`, `oneOf`, `anyOf` and `not`; their schemas only restrict values and are copied alike in both versions. */
function junctors(schema: ValueObject): ValueObject {
  const out: ValueObject = {}
  for (const name of ['allOf', 'oneOf', 'anyOf']) {
    const all = getOwn(schema, name)
    if (Array.isArray(all) && all.length > 0) out[name] = all.map(one => (isObject(one) ? restriction(one) : one))
  }
  const not = getOwn(schema, 'not')
  return isObject(not) ? { ...out, not: restriction(not) } : out
}

function restriction(schema: ValueObject): ValueObject {
  const items = getOwn(schema, 'items')
  const properties = getOwn(schema, 'properties')
  const additional = getOwn(schema, 'additionalProperties')
  return {
    ...copied(schema, RESTRICTIONS),
    ...junctors(schema),
    ...(isObject(items) && { items: restriction(items) }),
    ...(hasMembers(properties) && { properties: eachMember(properties, restriction) }),
    ...(isObject(additional) && { additionalProperties: restriction(additional) }),
  }
}

const RESTRICTIONS = { hasDefaults: true } as Dialect

/** Adds the standard keywords for x-kubernetes-int-or-string, unless the definition has them. */
function unfoldIntOrString(out: ValueObject): void {
  const [first] = (out['allOf'] ?? []) as Value[]
  if (isEither(out['anyOf']) || (isObject(first) && isEither(first['anyOf']))) return
  if (out['anyOf'] === undefined) out['anyOf'] = EITHER
  else out['allOf'] = [{ anyOf: EITHER }, ...((out['allOf'] ?? []) as Value[])]
}

const EITHER: Value[] = [{ type: 'integer' }, { type: 'string' }]
const isEither = (anyOf: Value | undefined): boolean => equalValues(anyOf, EITHER)

/** An embedded resource has the standard apiVersion, kind and metadata. */
function embed(out: ValueObject, dialect: Dialect): ValueObject {
  const required = (out['required'] ?? []) as Value[]
  return {
    ...out,
    required: [...required, ...['kind', 'apiVersion'].filter(name => !required.includes(name))],
    properties: { ...(out['properties'] as ValueObject | undefined), ...standardProperties(dialect) },
  }
}

// ---- accessors

const isTrue = (schema: ValueObject, name: string): boolean => getOwn(schema, name) === true

const hasMembers = (value: Value | undefined): value is ValueObject => isObject(value) && Object.keys(value).length > 0

function membersOf(schema: ValueObject, name: string): ValueObject {
  const members = getOwn(schema, name)
  return isObject(members) ? members : {}
}

function eachMember(members: ValueObject, make: (schema: ValueObject) => ValueObject): ValueObject {
  const out: ValueObject = {}
  for (const [name, schema] of Object.entries(members)) if (isObject(schema)) setOwn(out, name, make(schema))
  return out
}
