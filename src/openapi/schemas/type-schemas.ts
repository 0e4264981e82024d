// The schemas of built-in types, created from the table of types when a document first needs them.

import { compareTexts } from '../../meta/go/go-text.js'
import { groupVersionKind } from '../../meta/group-version.js'
import { setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { bareName, type Field, type FieldSpec, type Type, type Types } from '../../types/type.js'
import type { TypeTable } from '../../types/type-table.js'
import { definitionOf } from './definition-names.js'
import { describeField, describeType } from './descriptions.js'
import type { Definition, Dialect } from './dialect.js'

/** Undefined if no built-in type has the name. */
export type FindDefinition = (definition: string) => Definition | undefined

export function typeSchemas(types: TypeTable, dialect: Dialect): FindDefinition {
  const cache = new Map<string, Definition>()
  const { typeOf, kindsOf } = indexOf(types)
  return definition => {
    let created = cache.get(definition)
    const type = typeOf.get(definition)
    if (created === undefined && type !== undefined) {
      created = createDefinition(types, dialect, type, kindsOf(type))
      cache.set(definition, created)
    }
    return created
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
    index = createIndex(types)
    indexes.set(types, index)
  }
  return index
}

function createIndex(types: TypeTable): Index {
  const typeOf = new Map([...types.typeNames(), ...Object.keys(WITHOUT_TYPE)].map(name => [definitionOf(name), name]))
  const kinds = new Map<string, ValueObject[]>()
  const add = (type: string, apiVersion: string, kind: string): void => {
    const { group, version } = groupVersionKind(apiVersion, kind)
    kinds.set(type, [...(kinds.get(type) ?? []), { group, kind, version }])
  }
  for (const [name, type] of types.kinds()) {
    const [apiVersion, kind] = name.split(' ') as [string, string]
    if (type !== DELETE_OPTIONS) add(type, apiVersion, kind)
  }
  // Every group version accepts DeleteOptions as a body.
  for (const apiVersion of types.groupVersions()) add(DELETE_OPTIONS, apiVersion, bareName(DELETE_OPTIONS))
  for (const all of kinds.values()) all.sort((a, b) => compareTexts(orderOf(a), orderOf(b)))
  return { typeOf, kindsOf: type => kinds.get(type) ?? [] }
}

const DELETE_OPTIONS = 'meta/v1.DeleteOptions'

const orderOf = ({ group, version, kind }: ValueObject): string =>
  `${group as string}\0${kind as string}\0${version as string}`

function createDefinition(types: Types, dialect: Dialect, name: string, kinds: ValueObject[]): Definition {
  const needs = new Set<string>()
  const schema = WITHOUT_TYPE[name] ?? definedSchema(types.byName(name), dialect, needs)
  const description = describeType(name)
  const complete = {
    ...(description && { description }),
    ...schema,
    ...(kinds.length > 0 && { 'x-kubernetes-group-version-kind': kinds }),
  }
  return { json: Buffer.from(JSON.stringify(complete)), needs: [...needs] }
}

const definedSchema = (type: Type, dialect: Dialect, needs: Set<string>): ValueObject =>
  type.special?.openapi(dialect.version) ?? objectSchema(type, dialect, needs)

function objectSchema(type: Type, dialect: Dialect, needs: Set<string>): ValueObject {
  const { required, 'map-type': mapType, unions } = type.go!.spec
  const fields = [...type.fields.values()].toSorted((a, b) => compareTexts(a.name, b.name))
  const properties: ValueObject = {}
  for (const field of fields) setOwn(properties, field.name, fieldSchema(dialect, type.name, field, needs))
  return {
    type: 'object',
    ...(required && { required: [...required] }),
    ...(fields.length > 0 && { properties }),
    ...(mapType && { 'x-kubernetes-map-type': mapType }),
    ...(unions !== undefined && { 'x-kubernetes-unions': unions }),
  }
}

function fieldSchema(dialect: Dialect, owner: string, { name, type, go }: Field, needs: Set<string>): ValueObject {
  const { spec } = go!
  const description = describeField(owner, name)
  const own = typeSchema(dialect, type, needs, {
    ...(description && { description }),
    ...(dialect.hasDefaults && defaultOf(type, spec)),
    ...(spec.enum && { enum: [...spec.enum] }),
  })
  return { ...own, ...extensionsOf(spec) }
}

function extensionsOf({ listMapKeys, listType, mapType, patchMergeKey, patchStrategy }: FieldSpec): ValueObject {
  return {
    ...(listMapKeys && { 'x-kubernetes-list-map-keys': [...listMapKeys] }),
    ...(listType && { 'x-kubernetes-list-type': listType }),
    ...(mapType && { 'x-kubernetes-map-type': mapType }),
    ...(patchMergeKey && { 'x-kubernetes-patch-merge-key': patchMergeKey }),
    ...(patchStrategy && { 'x-kubernetes-patch-strategy': patchStrategy }),
  }
}

function typeSchema(dialect: Dialect, type: Type, needs: Set<string>, more: ValueObject | undefined): ValueObject {
  const within = (of: Type): ValueObject =>
    typeSchema(dialect, of, needs, orNothing(dialect.hasDefaults ? defaultOf(of, {}) : {}))
  switch (type.kind) {
    case 'list':
      return { ...more, type: 'array', items: within(type.element!) }
    case 'map':
      return { ...more, type: 'object', additionalProperties: within(type.element!) }
    case 'object':
    case 'special': {
      const definition = definitionOf(type.name)
      needs.add(definition)
      return more ? dialect.refBeside(definition, more) : dialect.refTo(definition)
    }
    case 'any':
      return { ...more }
    default:
      return { ...more, ...PLAIN[type.kind] }
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

/** The default of a field: the given one, or Go's zero value if clients see it in responses. */
function defaultOf(type: Type, { default: given, pointer, omitempty, omitzero }: Partial<FieldSpec>): ValueObject {
  if (given !== undefined) return { default: given }
  if (pointer || type.kind === 'special') return {}
  if (type.kind === 'object') return type.fields.size > 0 && !omitzero ? { default: {} } : {}
  return omitempty || !Object.hasOwn(ZEROS, type.kind) ? {} : { default: ZEROS[type.kind]! }
}

const ZEROS: Readonly<Record<string, Value>> = { string: '', bool: false, int32: 0, int64: 0, float64: 0 }

const orNothing = (object: ValueObject): ValueObject | undefined =>
  Object.keys(object).length === 0 ? undefined : object

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

/** Definitions without a type in the table. */
const WITHOUT_TYPE: Readonly<Record<string, ValueObject>> = {
  'meta/v1.Duration': { type: 'string' },
  'meta/v1.Patch': { type: 'object' },
  'version.Info': {
    type: 'object',
    required: [...VERSION_FIELDS],
    properties: Object.fromEntries(VERSION_FIELDS.map(name => [name, { type: 'string' }])),
  },
}
