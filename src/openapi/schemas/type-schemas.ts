// The schemas of built-in types, created from the table of types when a document first needs them.

import { compareTexts } from '../../meta/go/go-text.js'
import { type GroupVersion, groupVersionKind } from '../../meta/group-version.js'
import { setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { bareName, type Field, type FieldSpec, type Type, type Types } from '../../types/type.js'
import type { TypeTable } from '../../types/type-table.js'
import { definitionOf } from './definition-names.js'
import { describeField, describeType } from './descriptions.js'
import type { Definition, Dialect } from './dialect.js'

/** Undefined if no built-in type has the name. */
export type FindDefinition = (definition: string) => Definition | undefined

/** The same for the document of a group version, or without one for a document of many. */
export type FindTypeDefinition = (definition: string, documentOf?: GroupVersion) => Definition | undefined

export function typeSchemas(types: TypeTable, dialect: Dialect): FindTypeDefinition {
  const cache = new Map<string, Definition>()
  const { typeOf, kindsOf } = indexOf(types)
  return (definition, documentOf) => {
    const type = typeOf.get(definition)
    if (type === undefined) return undefined
    const isRegistered = documentOf !== undefined && REGISTERED_EVERYWHERE.includes(type)
    const key = isRegistered ? `${definition} ${documentOf.group}/${documentOf.version}` : definition
    let created = cache.get(key)
    if (created === undefined) {
      const kinds = isRegistered
        ? kindsIn(bareName(type), documentOf)
        : kindsOf(type).filter(kind => dialect.version === 2 || !isInOtherScheme(type, kind))
      created = createDefinition(types, dialect, type, kinds)
      cache.set(key, created)
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
    if (!REGISTERED_EVERYWHERE.includes(type)) add(type, apiVersion, kind)
  }
  const versions = new Set([...types.groupVersions(), ...OTHER_VERSIONS])
  for (const type of REGISTERED_EVERYWHERE) {
    for (const apiVersion of versions) add(type, apiVersion, bareName(type))
  }
  for (const all of kinds.values()) all.sort((a, b) => compareTexts(orderOf(a), orderOf(b)))
  return { typeOf, kindsOf: type => kinds.get(type) ?? [] }
}

/** Types that Kubernetes registers as kinds of every group version. */
const REGISTERED_EVERYWHERE = ['meta/v1.DeleteOptions', 'meta/v1.WatchEvent']

/** Documents of custom group versions are made with the scheme that most built-in groups are in, but not these. */
const isInOtherScheme = (type: string, { group }: ValueObject): boolean =>
  REGISTERED_EVERYWHERE.includes(type) && OTHER_SCHEMES.has(group as string)

const OTHER_SCHEMES: ReadonlySet<string> = new Set([
  'admission.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'imagepolicy.k8s.io',
])

/** The document of one group version names only the core group and that version. */
const kindsIn = (kind: string, { group, version }: GroupVersion): ValueObject[] =>
  group === ''
    ? [{ group, kind, version }]
    : [
        { group: '', kind, version: 'v1' },
        { group, kind, version },
      ]

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
  const more = {
    ...(description && { description }),
    ...(dialect.hasDefaults && defaultOf(type, spec)),
    ...(spec.enum && dialect.hasEnums !== false && { enum: [...spec.enum] }),
  }
  const own = typeSchema(
    dialect,
    type,
    needs,
    WITHOUT_DESCRIPTION.has(`${owner} ${name}`) ? undefined : more,
    spec.elementEnum,
  )
  return { ...own, ...extensionsOf(spec) }
}

/**
 * Fields that have no description in Kubernetes. Its documents have a bare reference for these, and one within `allOf`
 * for all others.
 */
const WITHOUT_DESCRIPTION = new Set([
  'networking/v1.IngressRule http',
  ...['additionalItems', 'additionalProperties', 'example', 'externalDocs', 'items', 'not'].map(
    name => `apiextensions/v1.JSONSchemaProps ${name}`,
  ),
])

function extensionsOf({ listMapKeys, listType, mapType, patchMergeKey, patchStrategy }: FieldSpec): ValueObject {
  return {
    ...(listMapKeys && { 'x-kubernetes-list-map-keys': [...listMapKeys] }),
    ...(listType && { 'x-kubernetes-list-type': listType }),
    ...(mapType && { 'x-kubernetes-map-type': mapType }),
    ...(patchMergeKey && { 'x-kubernetes-patch-merge-key': patchMergeKey }),
    ...(patchStrategy && { 'x-kubernetes-patch-strategy': patchStrategy }),
  }
}

function typeSchema(
  dialect: Dialect,
  type: Type,
  needs: Set<string>,
  more: ValueObject | undefined,
  elementEnum?: readonly string[],
): ValueObject {
  const within = (of: Type): ValueObject =>
    typeSchema(
      dialect,
      of,
      needs,
      orNothing({
        ...(dialect.hasDefaults && defaultOf(of, {})),
        ...(elementEnum && dialect.hasEnums !== false && { enum: [...elementEnum] }),
      }),
    )
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

/** Group versions that Kubernetes registers and this server does not serve by default. */
const OTHER_VERSIONS = [
  'admission.k8s.io/v1',
  'admission.k8s.io/v1beta1',
  'admissionregistration.k8s.io/v1alpha1',
  'admissionregistration.k8s.io/v1beta1',
  'apiextensions.k8s.io/v1beta1',
  'apiregistration.k8s.io/v1beta1',
  'apps/v1beta1',
  'apps/v1beta2',
  'authentication.k8s.io/v1alpha1',
  'authentication.k8s.io/v1beta1',
  'authorization.k8s.io/v1beta1',
  'batch/v1beta1',
  'certificates.k8s.io/v1alpha1',
  'certificates.k8s.io/v1beta1',
  'coordination.k8s.io/v1alpha2',
  'coordination.k8s.io/v1beta1',
  'discovery.k8s.io/v1beta1',
  'events.k8s.io/v1beta1',
  'extensions/v1beta1',
  'flowcontrol.apiserver.k8s.io/v1beta1',
  'flowcontrol.apiserver.k8s.io/v1beta2',
  'flowcontrol.apiserver.k8s.io/v1beta3',
  'imagepolicy.k8s.io/v1alpha1',
  'internal.apiserver.k8s.io/v1alpha1',
  'networking.k8s.io/v1beta1',
  'node.k8s.io/v1alpha1',
  'node.k8s.io/v1beta1',
  'policy/v1beta1',
  'rbac.authorization.k8s.io/v1alpha1',
  'rbac.authorization.k8s.io/v1beta1',
  'resource.k8s.io/v1alpha3',
  'resource.k8s.io/v1beta1',
  'resource.k8s.io/v1beta2',
  'scheduling.k8s.io/v1alpha2',
  'scheduling.k8s.io/v1beta1',
  'storage.k8s.io/v1alpha1',
  'storage.k8s.io/v1beta1',
  'storagemigration.k8s.io/v1beta1',
]

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

const COMPATIBILITY_FIELDS = ['emulationMajor', 'emulationMinor', 'minCompatibilityMajor', 'minCompatibilityMinor']

/** Definitions without a type in the table. */
const WITHOUT_TYPE: Readonly<Record<string, ValueObject>> = {
  'meta/v1.Duration': { type: 'string' },
  'meta/v1.Patch': { type: 'object' },
  'version.Info': {
    type: 'object',
    required: [...VERSION_FIELDS],
    properties: Object.fromEntries([
      ...VERSION_FIELDS.map(name => [name, { type: 'string', default: '' }]),
      ...COMPATIBILITY_FIELDS.map(name => [name, { type: 'string' }]),
    ]) as ValueObject,
  },
}
