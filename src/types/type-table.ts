// The data about the built-in kinds: their types, the type of each kind, the resources of a group version and the
// columns of a resource. It is read from `data/builtin-kinds.json`, and from `data/optional-kinds.json` for versions
// that are served only if a flag enables them. No code here names a kind.
import { readFileSync } from 'node:fs'
import { once } from '../base/memo.js'
import { goTypes } from './go/go-types.js'
import type { TypeSpec, Types } from './type.js'

export interface APIResource {
  /** `pods`, or `pods/status` for a subresource. */
  readonly name: string
  readonly singularName?: string
  readonly namespaced: boolean
  readonly kind: string
  /** If the kind of a subresource is one of another group, as Scale is. */
  readonly group?: string
  readonly version?: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export interface ColumnSpec {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly priority: number
}

/** The types of the built-in kinds, with the other data about those kinds. */
export interface TypeTable extends Types {
  readonly typeNames: () => readonly string[]
  /** The names of types, by `apps/v1 Deployment`. */
  readonly kinds: () => ReadonlyMap<string, string>
  readonly groupVersions: () => readonly string[]
  /** The versions that are served only when a flag enables them; `groupVersions` does not list them. */
  readonly optionalVersions: () => readonly string[]
  readonly resources: (apiVersion: string) => readonly APIResource[]
  readonly columns: (apiVersion: string, resource: string) => readonly ColumnSpec[] | undefined
}

/** A file of data. */
export interface TypeData {
  readonly kinds: Readonly<Record<string, string>>
  readonly resources: Readonly<Record<string, readonly APIResource[]>>
  readonly columns: Readonly<Record<string, readonly ColumnSpec[]>>
  readonly types: Readonly<Record<string, TypeSpec>>
}

const NO_DATA: TypeData = { kinds: {}, resources: {}, columns: {}, types: {} }

/** The table of the built-in kinds. It is immutable, the same for every server, and read at the first call. */
export const builtinTypes = once((): TypeTable => builtinTypesAnd())

/** A table of the built-in kinds and of further types. */
export const builtinTypesAnd = (more?: Pick<TypeData, 'kinds' | 'types'>): TypeTable =>
  typeTable(builtinData(), optionalData(), more)

const readData = (file: string): TypeData =>
  JSON.parse(readFileSync(new URL(`../../data/${file}`, import.meta.url), 'utf8')) as TypeData

const builtinData = once(() => readData('builtin-kinds.json'))
const optionalData = once(() => readData('optional-kinds.json'))

export function typeTable(
  served: TypeData,
  optional: TypeData = NO_DATA,
  more: Pick<TypeData, 'kinds' | 'types'> = NO_DATA,
): TypeTable {
  const specs = new Map(Object.entries({ ...METADATA_TYPES, ...served.types, ...optional.types, ...more.types }))
  const kinds = new Map(Object.entries({ ...METADATA_KINDS, ...served.kinds, ...optional.kinds, ...more.kinds }))
  const resources = { ...served.resources, ...optional.resources }
  const columns = { ...served.columns, ...optional.columns }
  const types = goTypes(specs, kinds)
  return {
    byName: name => types.byName(name),
    ofKind: (apiVersion, kind) => types.ofKind(apiVersion, kind),
    any: types.any,
    cache: types.cache,
    typeNames: () => [...specs.keys()],
    kinds: () => kinds,
    groupVersions: () => Object.keys(served.resources),
    optionalVersions: () => Object.keys(optional.resources),
    resources: apiVersion => (Object.hasOwn(resources, apiVersion) ? resources[apiVersion]! : []),
    columns: (apiVersion, resource) => {
      const key = `${apiVersion} ${resource}`
      return Object.hasOwn(columns, key) ? columns[key] : undefined
    },
  }
}

/** The metadata of an object of any kind. All kinds can be requested in this form; the data of no kind lists it. */
const METADATA_TYPES: Readonly<Record<string, TypeSpec>> = {
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
