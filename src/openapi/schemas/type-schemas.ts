// The schemas of built-in types, made from the table of types one by one, when a document first needs them.

import { compareTexts } from '../../meta/go/go-text.js'
import { groupVersionKind } from '../../meta/group-version.js'
import { setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { bareName, type Field, type TypeRef, type TypeTable } from '../../types/type-table.js'
import { definitionOf } from './definition-names.js'
import { describeField, describeType } from './descriptions.js'
import type { Definition, Dialect } from './dialect.js'

/** Undefined for a name that no built-in type has. */
export type FindDefinition = (definition: string) => Definition | undefined

export function typeSchemas(types: TypeTable, dialect: Dialect): FindDefinition {
  const kept = new Map<string, Definition>()
  const { typeOf, kindsOf } = indexOf(types)
  return definition => {
    let made = kept.get(definition)
    const type = typeOf.get(definition)
    if (made === undefined && type !== undefined) {
      made = makeDefinition(types, dialect, type, kindsOf(type))
      kept.set(definition, made)
    }
    return made
  }
}

interface Index {
  readonly typeOf: ReadonlyMap<string, string>
  kindsOf(type: string): ValueObject[]
}

const indexes = new WeakMap<TypeTable, Index>()

function indexOf(types: TypeTable): Index {
  let index = indexes.get(types)
  if (index === undefined) {
    index = makeIndex(types)
    indexes.set(types, index)
  }
  return index
}

function makeIndex(types: TypeTable): Index {
  const typeOf = new Map([...types.typeNames(), ...Object.keys(SELF_ENCODED)].map(name => [definitionOf(name), name]))
  const kinds = new Map<string, ValueObject[]>()
  const add = (type: string, apiVersion: string, kind: string): void => {
    const { group, version } = groupVersionKind(apiVersion, kind)
    kinds.set(type, [...(kinds.get(type) ?? []), { group, kind, version }])
  }
  for (const [name, type] of types.kinds()) {
    const [apiVersion, kind] = name.split(' ') as [string, string]
    if (type !== DELETE_OPTIONS) add(type, apiVersion, kind)
  }
  // Every group version takes these in a body.
  for (const apiVersion of types.groupVersions()) add(DELETE_OPTIONS, apiVersion, bareName(DELETE_OPTIONS))
  for (const all of kinds.values()) all.sort((a, b) => compareTexts(orderOf(a), orderOf(b)))
  return { typeOf, kindsOf: type => kinds.get(type) ?? [] }
}

const DELETE_OPTIONS = 'meta/v1.DeleteOptions'

const orderOf = ({ group, version, kind }: ValueObject): string =>
  `${group as string}\0${kind as string}\0${version as string}`

function makeDefinition(types: TypeTable, dialect: Dialect, type: string, kinds: ValueObject[]): Definition {
  const needs = new Set<string>()
  const schema = SELF_ENCODED[type]?.(dialect) ?? objectSchema(types, dialect, type, needs)
  const description = describeType(type)
  const whole = {
    ...(description && { description }),
    ...schema,
    ...(kinds.length > 0 && { 'x-kubernetes-group-version-kind': kinds }),
  }
  return { json: Buffer.from(JSON.stringify(whole)), needs: [...needs] }
}

function objectSchema(types: TypeTable, dialect: Dialect, type: string, needs: Set<string>): ValueObject {
  const { facts, fields } = types.type(type)
  const properties: ValueObject = {}
  for (const field of fields.toSorted((a, b) => compareTexts(a.name, b.name))) {
    setOwn(properties, field.name, fieldSchema(types, dialect, type, field, needs))
  }
  return {
    type: 'object',
    ...(facts.required && { required: [...facts.required] }),
    ...(fields.length > 0 && { properties }),
    ...(facts['map-type'] && { 'x-kubernetes-map-type': facts['map-type'] }),
    ...unionsOf(facts),
  }
}

function unionsOf(facts: object): ValueObject {
  const { unions } = facts as { unions?: Value }
  return unions === undefined ? {} : { 'x-kubernetes-unions': unions }
}

function fieldSchema(types: TypeTable, dialect: Dialect, owner: string, field: Field, needs: Set<string>): ValueObject {
  const { facts } = field
  const description = describeField(owner, field.name)
  const own = refSchema(types, dialect, field.type, needs, {
    ...(description && { description }),
    ...(dialect.hasDefaults && defaultOf(types, field.type, facts)),
    ...(facts.enum && { enum: [...facts.enum] }),
  })
  return { ...own, ...extensionsOf(field) }
}

function extensionsOf({ facts }: Field): ValueObject {
  const { listMapKeys, listType, mapType, patchMergeKey, patchStrategy } = facts
  return {
    ...(listMapKeys && { 'x-kubernetes-list-map-keys': [...listMapKeys] }),
    ...(listType && { 'x-kubernetes-list-type': listType }),
    ...(mapType && { 'x-kubernetes-map-type': mapType }),
    ...(patchMergeKey && { 'x-kubernetes-patch-merge-key': patchMergeKey }),
    ...(patchStrategy && { 'x-kubernetes-patch-strategy': patchStrategy }),
  }
}

function refSchema(
  types: TypeTable,
  dialect: Dialect,
  ref: TypeRef,
  needs: Set<string>,
  more: ValueObject | undefined,
): ValueObject {
  const within = (of: TypeRef): ValueObject =>
    refSchema(types, dialect, of, needs, orNothing(dialect.hasDefaults ? defaultOf(types, of, {}) : {}))
  switch (ref.is) {
    case 'list':
      return { ...more, type: 'array', items: within(ref.of) }
    case 'map':
      return { ...more, type: 'object', additionalProperties: within(ref.of) }
    case 'type': {
      const definition = definitionOf(ref.name)
      needs.add(definition)
      return more ? dialect.refBeside(definition, more) : dialect.refTo(definition)
    }
    default:
      return { ...more, ...PLAIN[ref.is] }
  }
}

const PLAIN = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
} as const

/** What Go has there when nothing is said, where that is what a client would see. */
function defaultOf(
  types: TypeTable,
  ref: TypeRef,
  { default: given, pointer, omitempty, omitzero }: Partial<Field['facts']>,
): ValueObject {
  if (given !== undefined) return { default: given }
  if (pointer) return {}
  if (ref.is === 'type') {
    const isStruct = !Object.hasOwn(SELF_ENCODED, ref.name) && types.type(ref.name).fields.length > 0
    return isStruct && !omitzero ? { default: {} } : {}
  }
  return omitempty || !Object.hasOwn(ZEROS, ref.is) ? {} : { default: ZEROS[ref.is]! }
}

const ZEROS: Readonly<Record<string, Value>> = { string: '', bool: false, int32: 0, int64: 0, float64: 0 }

const orNothing = (object: ValueObject): ValueObject | undefined =>
  Object.keys(object).length === 0 ? undefined : object

/** Types whose JSON is not made of their fields, and those that the table does not have. */
const SELF_ENCODED: Readonly<Record<string, (dialect: Dialect) => ValueObject>> = {
  'meta/v1.Time': () => ({ type: 'string', format: 'date-time' }),
  'meta/v1.MicroTime': () => ({ type: 'string', format: 'date-time' }),
  'meta/v1.Duration': () => ({ type: 'string' }),
  'meta/v1.FieldsV1': () => ({ type: 'object' }),
  'meta/v1.Patch': () => ({ type: 'object' }),
  'runtime.RawExtension': () => ({ type: 'object' }),
  'api/resource.Quantity': ({ version }) =>
    version === 2 ? { type: 'string' } : { oneOf: [{ type: 'string' }, { type: 'number' }] },
  'util/intstr.IntOrString': ({ version }) =>
    version === 2
      ? { type: 'string', format: 'int-or-string' }
      : { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  'apiextensions/v1.JSON': () => ({}),
  'apiextensions/v1.JSONSchemaPropsOrArray': () => ({}),
  'apiextensions/v1.JSONSchemaPropsOrBool': () => ({}),
  'apiextensions/v1.JSONSchemaPropsOrStringArray': () => ({}),
  'version.Info': () => ({
    type: 'object',
    required: [...VERSION_FIELDS],
    properties: Object.fromEntries(VERSION_FIELDS.map(name => [name, { type: 'string' }])),
  }),
}

const VERSION_FIELDS = [
  'major',
  'minor',
  'gitVersion',
  'gitCommit',
  'gitTreeState',
  'buildDate',
  'goVersion',
  'compiler',
  'platform',
]
