// The group versions with their resources, derived from the registry. An unchanged version stays the same object, so
// that documents can be cached by it.

import type { Kind, KindVersion } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { SUBRESOURCE_VERBS, verbsOfSubresource } from '../../kinds/subresources.js'
import { compareTexts } from '../../meta/go/go-text.js'
import { type GroupVersionKind, printGroupVersion } from '../../meta/group-version.js'
import type { APIResource, TypeTable } from '../../types/type-table.js'
import type { CustomKind } from '../schemas/custom-schemas.js'
import { customDefinitionOf, definitionOf, SCALE, STATUS } from '../schemas/definition-names.js'
import { STRING_RESPONSE } from '../schemas/dialect.js'
import { optionParameters, type Parameter } from './parameters.js'

export interface PublishedVersion {
  readonly group: string
  readonly version: string
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string
  readonly resources: readonly PublishedResource[]
  readonly customKinds: readonly CustomKind[]
  /** Whether all its resources are custom. */
  readonly isCustom: boolean
}

/** A resource, or a subresource of one. */
export interface PublishedResource {
  readonly plural: string
  /** Empty for the resource itself. */
  readonly subresource: string
  /** The kind of the resource itself, which is part of operation ids. */
  readonly kind: string
  readonly namespaced: boolean
  readonly isCustom: boolean
  readonly verbs: readonly string[]
  /** The kind of request and response bodies. */
  readonly bodyKind: GroupVersionKind
  readonly definition: string
  readonly listDefinition: string
  readonly deleteResponse: string
  /** Further parameters of the query. */
  readonly options?: readonly Parameter[] | undefined
  readonly connect?: Pick<ConnectFacts, 'methods' | 'hasSubpaths'> | undefined
}

/** A resource that is served without a kind in the registry. */
export interface ExtraResource extends APIResource {
  /** Set for subresources that connect to what runs on a node. */
  readonly connect?: ConnectFacts | undefined
}

export interface ConnectFacts {
  /** The HTTP methods of its path: `GET`. */
  readonly methods: readonly string[]
  /** Whether the paths below it are served, too. */
  readonly hasSubpaths: boolean
  /** The kind of its options: PodExecOptions. */
  readonly optionsKind: string
}

/** By group version. */
export type ExtraResources = Readonly<Record<string, readonly ExtraResource[]>>

export interface PublishedVersions {
  /** Sorted by group and version; the same array until something changes. */
  all(): readonly PublishedVersion[]
}

export function publishedVersions(registry: Registry, types: TypeTable, extras: ExtraResources): PublishedVersions {
  let cached = new Map<string, { readonly parts: readonly unknown[]; readonly created: PublishedVersion }>()
  let inOrder: readonly PublishedVersion[] = []
  let generation = -1
  const partsOf = createPartsOf(types)

  function refresh(): void {
    if (generation === registry.generation) return
    generation = registry.generation
    const refreshed: typeof cached = new Map()
    for (const [apiVersion, served] of servedByVersion(registry, extras)) {
      const parts = served.flatMap(({ kind, version }) => [kind, version])
      const old = cached.get(apiVersion)
      const isSame = old?.parts.length === parts.length && old.parts.every((part, i) => part === parts[i])
      const created = isSame
        ? old.created
        : publishedVersion(types, apiVersion, served.map(partsOf), extras[apiVersion] ?? [])
      refreshed.set(apiVersion, { parts, created })
    }
    cached = refreshed
    inOrder = [...refreshed.values()]
      .map(({ created: made }) => made)
      .toSorted((a, b) => compareTexts(a.apiVersion, b.apiVersion))
  }

  return {
    all() {
      refresh()
      return inOrder
    },
  }
}

interface Served {
  readonly kind: Kind
  readonly version: KindVersion
}

function servedByVersion(registry: Registry, extras: ExtraResources): Map<string, Served[]> {
  const isComplete = ({ name }: APIResource): boolean => !name.includes('/')
  const all = new Map<string, Served[]>()
  for (const [apiVersion, resources] of Object.entries(extras)) if (resources.some(isComplete)) all.set(apiVersion, [])
  for (const kind of registry.all()) {
    for (const version of kind.versions) {
      if (!version.served) continue
      const apiVersion = printGroupVersion({ group: kind.group, version: version.name })
      const existing = all.get(apiVersion)
      if (existing) existing.push({ kind, version })
      else all.set(apiVersion, [{ kind, version }])
    }
  }
  return all
}

/** The resources and the custom kind that one kind adds to a version. */
interface ServedParts {
  readonly kind: Kind
  readonly resources: readonly PublishedResource[]
  readonly custom: CustomKind | undefined
}

/** The same objects for the same kind, independent of other kinds in its version, so that more can be cached by them. */
function createPartsOf(types: TypeTable): (served: Served) => ServedParts {
  const cached = new WeakMap<KindVersion, ServedParts>()
  return served => {
    const { kind, version } = served
    let parts = cached.get(version)
    if (parts?.kind !== kind) {
      parts = { kind, resources: resourcesOf(types, served), custom: customKindOf(served) }
      cached.set(version, parts)
    }
    return parts
  }
}

function customKindOf({ kind: { origin, group, names }, version }: Served): CustomKind | undefined {
  if (origin === 'builtin') return undefined
  const { kind, listKind, plural } = names
  const { type, selectableFields = [] } = version
  return { group, version: version.name, kind, listKind, plural, type, selectableFields }
}

function publishedVersion(
  types: TypeTable,
  apiVersion: string,
  served: readonly ServedParts[],
  extras: readonly ExtraResource[],
): PublishedVersion {
  const slash = apiVersion.indexOf('/')
  const group = apiVersion.slice(0, Math.max(slash, 0))
  const own = served.flatMap(({ resources }) => resources)
  const names = new Set(own.map(nameOf))
  const more = extras.filter(({ name }) => !names.has(name))
  const resources = [
    ...own,
    ...more.flatMap(attributes => extraResource(types, apiVersion, attributes, [...own, ...bare(more)])),
  ]
  return {
    group,
    version: apiVersion.slice(slash + 1),
    apiVersion,
    resources: resources.toSorted((a, b) => compareTexts(nameOf(a), nameOf(b))),
    customKinds: served.flatMap(({ custom }) => custom ?? []),
    isCustom: resources.every(({ isCustom }) => isCustom),
  }
}

const nameOf = ({ plural, subresource }: PublishedResource): string =>
  subresource ? `${plural}/${subresource}` : plural

const CUSTOM_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update']

function resourcesOf(types: TypeTable, { kind, version }: Served): PublishedResource[] {
  const { names, group, namespaced, traits } = kind
  const apiVersion = printGroupVersion({ group, version: version.name })
  const isCustom = kind.origin === 'custom'
  const bodyKind = { group, version: version.name, kind: names.kind }
  const definition = isCustom ? customDefinitionOf(group, version.name, names.kind) : definitionOf(version.type.name)
  const listType = isCustom ? undefined : types.ofKind(apiVersion, names.listKind)?.name
  const resource: PublishedResource = {
    plural: names.plural,
    subresource: '',
    kind: names.kind,
    namespaced,
    isCustom,
    // Custom kinds are always published with all verbs, also while their definition is being deleted.
    verbs: isCustom ? CUSTOM_VERBS : kind.verbs,
    bodyKind,
    definition,
    listDefinition: listType ? definitionOf(listType) : customDefinitionOf(group, version.name, names.listKind),
    // Deleting a namespace returns it too, but kube-apiserver documents a Status.
    deleteResponse: !isCustom && traits.returnsDeletedObject && !traits.hasTerminatingPhase ? definition : STATUS,
  }
  const { status, scale, parts = {} } = version.subresources
  const part = { ...resource, verbs: SUBRESOURCE_VERBS }
  // The operations on the scale of a custom kind are published with the custom kind.
  const scaled = isCustom ? bodyKind : { group: 'autoscaling', version: 'v1', kind: 'Scale' }
  return [
    resource,
    ...(status ? [{ ...part, subresource: 'status' }] : []),
    ...Object.keys(parts).flatMap(name => [{ ...part, subresource: name, verbs: verbsOfSubresource(version, name) }]),
    ...(scale ? [{ ...part, subresource: 'scale', bodyKind: scaled, definition: SCALE }] : []),
  ]
}

function extraResource(
  types: TypeTable,
  apiVersion: string,
  attributes: ExtraResource,
  parents: readonly { readonly plural: string; readonly kind: string }[],
): PublishedResource[] {
  const slash = apiVersion.indexOf('/')
  const [plural = '', subresource = ''] = attributes.name.split('/')
  const { group = apiVersion.slice(0, Math.max(slash, 0)), version = apiVersion.slice(slash + 1), kind } = attributes
  const type = types.ofKind(printGroupVersion({ group, version }), kind)?.name
  const parent = parents.find(each => each.plural === plural)
  if (!type || !parent) return []
  const { connect } = attributes
  const optionsType = connect && types.ofKind(apiVersion, connect.optionsKind)
  // A log is read as text, by an operation like any other.
  const isText = connect !== undefined && kind !== connect.optionsKind
  const listType = types.ofKind(apiVersion, `${kind}List`)?.name
  const definition = isText ? STRING_RESPONSE : definitionOf(type)
  return [
    {
      plural,
      subresource,
      kind: parent.kind,
      namespaced: attributes.namespaced,
      isCustom: false,
      verbs: attributes.verbs,
      bodyKind: { group, version, kind },
      definition,
      listDefinition: listType ? definitionOf(listType) : definition,
      deleteResponse: STATUS,
      options: optionsType && optionParameters(optionsType),
      connect: isText ? undefined : connect,
    },
  ]
}

const bare = (extras: readonly APIResource[]): { plural: string; kind: string }[] =>
  extras.filter(({ name }) => !name.includes('/')).map(({ name, kind }) => ({ plural: name, kind }))
