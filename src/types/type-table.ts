// The facts about the built-in kinds, indexed: types with their fields by JSON name, which type a kind has, the
// resources of a group version and the columns of a resource. The facts are data (`data/builtin-kinds.json`, and
// `data/optional-kinds.json` for what is served only when asked for); nothing here knows a kind by name. Types are looked into one by one, when first asked for.
import { readFileSync } from 'node:fs'
import type { Value } from '../meta/values/value.js'

/** One field of a type, as the data has it. */
export interface FieldFacts {
  /** The JSON name; an inlined type has none. */
  readonly name?: string
  /** `string`, `bool`, `int32`, `int64`, `float64`, `bytes`, `[]T`, `{string}T`, or the name of another type. */
  readonly type: string
  readonly omitempty?: boolean
  readonly omitzero?: boolean
  readonly pointer?: boolean
  readonly inline?: boolean
  /** The protobuf field. Its wire type follows from the type: the data's own is not reliable. */
  readonly number?: number
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly listType?: string
  readonly listMapKeys?: readonly string[]
  readonly mapType?: string
  readonly default?: Value
  readonly enum?: readonly string[]
  readonly format?: string
}

export interface TypeFacts {
  readonly fields: readonly FieldFacts[]
  readonly required?: readonly string[]
  readonly 'map-type'?: string
}

export interface ResourceFacts {
  /** `pods`, or `pods/status` for a subresource. */
  readonly name: string
  readonly singularName?: string
  readonly namespaced: boolean
  readonly kind: string
  /** Where the kind of a subresource is from elsewhere, as Scale is. */
  readonly group?: string
  readonly version?: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export interface ColumnFacts {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly priority: number
}

/** What a field holds. */
export type TypeRef =
  | { readonly is: 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes' }
  | { readonly is: 'list'; readonly of: TypeRef }
  | { readonly is: 'map'; readonly of: TypeRef }
  | { readonly is: 'type'; readonly name: string }

/** A field as JSON shows it: those of inlined types stand among the others. */
export interface Field {
  readonly name: string
  readonly type: TypeRef
  readonly facts: FieldFacts
  /** The inlined types that the field comes from, outermost first, by their bare names. */
  readonly within: readonly string[]
  /** The type that declares the field. */
  readonly declaredBy: string
}

export interface TypeInfo {
  readonly name: string
  readonly facts: TypeFacts
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
}

export interface TypeTable {
  /** The types as the data has them. */
  readonly facts: () => Readonly<Record<string, TypeFacts>>
  /** Throws for a name that the table does not hold: names come from the table itself. */
  readonly type: (name: string) => TypeInfo
  readonly typeNames: () => readonly string[]
  /** The type of a kind, as `apps/v1` and `Deployment`. */
  readonly typeOfKind: (apiVersion: string, kind: string) => string | undefined
  readonly kinds: () => ReadonlyMap<string, string>
  readonly groupVersions: () => readonly string[]
  /** Those that are known but served only when asked for; not among the others. */
  readonly optionalVersions: () => readonly string[]
  readonly resources: (apiVersion: string) => readonly ResourceFacts[]
  readonly columns: (apiVersion: string, resource: string) => readonly ColumnFacts[] | undefined
}

interface Facts {
  readonly kinds: Readonly<Record<string, string>>
  readonly resources: Readonly<Record<string, readonly ResourceFacts[]>>
  readonly columns: Readonly<Record<string, readonly ColumnFacts[]>>
  readonly types: Readonly<Record<string, TypeFacts>>
}

const NO_ATTRIBUTES: Facts = { kinds: {}, resources: {}, columns: {}, types: {} }

let shared: TypeTable | undefined

/** The table of the kinds that come with the server, read at the first call. */
export function builtinTypes(): TypeTable {
  if (shared === undefined) {
    shared = typeTable(readFacts('builtin-kinds.json'), readFacts('optional-kinds.json'))
  }
  return shared
}

const readFacts = (file: string): Facts =>
  JSON.parse(readFileSync(new URL(`../../data/${file}`, import.meta.url), 'utf8')) as Facts

export function typeTable(served: Facts, optional: Facts = NO_ATTRIBUTES): TypeTable {
  const facts: Facts = {
    kinds: { ...served.kinds, ...optional.kinds },
    resources: { ...served.resources, ...optional.resources },
    columns: { ...served.columns, ...optional.columns },
    types: { ...served.types, ...optional.types },
  }
  const types = new Map(Object.entries({ ...METADATA_TYPES, ...facts.types }))
  const kinds = new Map(Object.entries({ ...METADATA_KINDS, ...facts.kinds }))
  const looked = new Map<string, TypeInfo>()

  const type = (name: string): TypeInfo => {
    let info = looked.get(name)
    if (info === undefined) {
      const own = types.get(name)
      if (own === undefined) throw new Error(`there is no type ${name} among the built-in ones`)
      const fields = flatten(types, name, own, [])
      info = { name, facts: own, fields, byName: new Map(fields.map(field => [field.name, field])) }
      looked.set(name, info)
    }
    return info
  }

  return {
    facts: () => facts.types,
    type,
    typeNames: () => [...types.keys()],
    typeOfKind: (apiVersion, kind) => kinds.get(`${apiVersion} ${kind}`),
    kinds: () => kinds,
    groupVersions: () => Object.keys(served.resources),
    optionalVersions: () => Object.keys(optional.resources),
    resources: apiVersion => (Object.hasOwn(facts.resources, apiVersion) ? facts.resources[apiVersion]! : []),
    columns: (apiVersion, resource) => {
      const key = `${apiVersion} ${resource}`
      return Object.hasOwn(facts.columns, key) ? facts.columns[key] : undefined
    },
  }
}

/** Reads the spelling of a type in the data: `[]core/v1.Container`, `{string}bytes`. */
export function parseTypeRef(text: string): TypeRef {
  if (text.startsWith('[]')) return { is: 'list', of: parseTypeRef(text.slice(2)) }
  if (text.startsWith('{')) return { is: 'map', of: parseTypeRef(text.slice(text.indexOf('}') + 1)) }
  switch (text) {
    case 'string':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'float64':
    case 'bytes':
      return { is: text }
    default:
      return { is: 'type', name: text }
  }
}

/** `Container` of `core/v1.Container`. */
export const bareName = (type: string): string => type.slice(type.lastIndexOf('.') + 1)

function flatten(
  types: ReadonlyMap<string, TypeFacts>,
  name: string,
  { fields }: TypeFacts,
  within: readonly string[],
): Field[] {
  return fields.flatMap(facts => {
    const inlined = facts.inline === true ? types.get(facts.type) : undefined
    if (inlined !== undefined) return flatten(types, facts.type, inlined, [...within, bareName(facts.type)])
    if (facts.name === undefined) return []
    return [{ name: facts.name, type: parseTypeRef(facts.type), facts, within, declaredBy: name }]
  })
}

/** An object of any kind reduced to its metadata: served for all kinds, so that no kind's data lists it. */
const METADATA_TYPES: Readonly<Record<string, TypeFacts>> = {
  'meta/v1.PartialObjectMetadata': {
    fields: [
      { type: 'meta/v1.TypeMeta', inline: true },
      { name: 'metadata', type: 'meta/v1.ObjectMeta', omitempty: true, number: 1 },
    ],
  },
  'meta/v1.PartialObjectMetadataList': {
    fields: [
      { type: 'meta/v1.TypeMeta', inline: true },
      { name: 'metadata', type: 'meta/v1.ListMeta', omitempty: true, number: 1 },
      { name: 'items', type: '[]meta/v1.PartialObjectMetadata', number: 2 },
    ],
  },
}

const METADATA_KINDS: Readonly<Record<string, string>> = {
  'meta.k8s.io/v1 PartialObjectMetadata': 'meta/v1.PartialObjectMetadata',
  'meta.k8s.io/v1 PartialObjectMetadataList': 'meta/v1.PartialObjectMetadataList',
  'meta.k8s.io/v1beta1 PartialObjectMetadata': 'meta/v1.PartialObjectMetadata',
  'meta.k8s.io/v1beta1 PartialObjectMetadataList': 'meta/v1.PartialObjectMetadataList',
}
