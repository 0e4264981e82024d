// What there is to publish: each group version with its resources, derived from the registry. A version whose kinds
// did not change stays the same object, so that documents that were made of it can be kept by it.

import type { Kind, KindVersion } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { SUBRESOURCE_VERBS, verbsOfSubresource } from '../../kinds/subresources.js'
import { compareTexts } from '../../meta/go/go-text.js'
import { type GroupVersionKind, printGroupVersion } from '../../meta/group-version.js'
import type { ResourceFacts, TypeTable } from '../../types/type-table.js'
import type { CustomKind } from '../schemas/custom-schemas.js'
import { customDefinitionOf, definitionOf, SCALE, STATUS } from '../schemas/definition-names.js'

export interface PublishedVersion {
  readonly group: string
  readonly version: string
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string
  readonly resources: readonly PublishedResource[]
  readonly customKinds: readonly CustomKind[]
  /** Whether nothing of it comes with the server. */
  readonly isCustom: boolean
}

/** A resource, or a subresource of one. */
export interface PublishedResource {
  readonly plural: string
  /** Empty for the resource itself. */
  readonly subresource: string
  /** The kind of the resource itself, after which operations are named. */
  readonly kind: string
  readonly namespaced: boolean
  readonly isCustom: boolean
  readonly verbs: readonly string[]
  /** What requests exchange, as operations name it. */
  readonly exchanged: GroupVersionKind
  readonly definition: string
  readonly listDefinition: string
  readonly deleteAnswers: string
}

/** Resources that are served although no kind of the registry stands behind them, by group version. */
export type ExtraResources = Readonly<Record<string, readonly ResourceFacts[]>>

export interface PublishedVersions {
  /** Sorted by group and version; the same array as long as nothing changed. */
  all(): readonly PublishedVersion[]
}

export function publishedVersions(registry: Registry, types: TypeTable, extras: ExtraResources): PublishedVersions {
  let known = new Map<string, { readonly parts: readonly unknown[]; readonly made: PublishedVersion }>()
  let inOrder: readonly PublishedVersion[] = []
  let generation = -1
  const partsOf = createPartsOf(types)

  function refresh(): void {
    if (generation === registry.generation) return
    generation = registry.generation
    const fresh: typeof known = new Map()
    for (const [apiVersion, served] of servedByVersion(registry, extras)) {
      const parts = served.flatMap(({ kind, version }) => [kind, version])
      const old = known.get(apiVersion)
      const isSame = old?.parts.length === parts.length && old.parts.every((part, i) => part === parts[i])
      const made = isSame
        ? old.made
        : publishedVersion(types, apiVersion, served.map(partsOf), extras[apiVersion] ?? [])
      fresh.set(apiVersion, { parts, made })
    }
    known = fresh
    inOrder = [...fresh.values()].map(({ made }) => made).toSorted((a, b) => compareTexts(a.apiVersion, b.apiVersion))
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
  const isComplete = ({ name }: ResourceFacts): boolean => !name.includes('/')
  const all = new Map<string, Served[]>()
  for (const [apiVersion, resources] of Object.entries(extras)) if (resources.some(isComplete)) all.set(apiVersion, [])
  for (const kind of registry.all()) {
    for (const version of kind.versions) {
      if (!version.served) continue
      const apiVersion = printGroupVersion({ group: kind.group, version: version.name })
      const others = all.get(apiVersion)
      if (others) others.push({ kind, version })
      else all.set(apiVersion, [{ kind, version }])
    }
  }
  return all
}

/** What one kind brings to a version. */
interface ServedParts {
  readonly kind: Kind
  readonly resources: readonly PublishedResource[]
  readonly custom: CustomKind | undefined
}

/** The same objects for the same kind, whatever becomes of others in its version: by these more is kept. */
function createPartsOf(types: TypeTable): (served: Served) => ServedParts {
  const known = new WeakMap<KindVersion, ServedParts>()
  return served => {
    const { kind, version } = served
    let parts = known.get(version)
    if (parts?.kind !== kind) {
      parts = { kind, resources: resourcesOf(types, served), custom: customKindOf(types, served) }
      known.set(version, parts)
    }
    return parts
  }
}

function customKindOf(types: TypeTable, { kind: { group, names }, version }: Served): CustomKind | undefined {
  const apiVersion = printGroupVersion({ group, version: version.name })
  if (types.ofKind(apiVersion, names.kind) !== undefined) return undefined
  return { group, version: version.name, kind: names.kind, listKind: names.listKind, published: version.openapi }
}

function publishedVersion(
  types: TypeTable,
  apiVersion: string,
  served: readonly ServedParts[],
  extras: readonly ResourceFacts[],
): PublishedVersion {
  const slash = apiVersion.indexOf('/')
  const group = apiVersion.slice(0, Math.max(slash, 0))
  const own = served.flatMap(({ resources }) => resources)
  const names = new Set(own.map(nameOf))
  const more = extras.filter(({ name }) => !names.has(name))
  const resources = [...own, ...more.flatMap(facts => extraResource(types, apiVersion, facts, [...own, ...bare(more)]))]
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
  const type = types.ofKind(apiVersion, names.kind)?.name
  const isCustom = type === undefined
  const exchanged = { group, version: version.name, kind: names.kind }
  const definition = isCustom ? customDefinitionOf(group, version.name, names.kind) : definitionOf(type)
  const listType = isCustom ? undefined : types.ofKind(apiVersion, names.listKind)?.name
  const whole: PublishedResource = {
    plural: names.plural,
    subresource: '',
    kind: names.kind,
    namespaced,
    isCustom,
    // Custom kinds are published whole, even while one is on its way out and takes no more writes.
    verbs: isCustom ? CUSTOM_VERBS : kind.verbs,
    exchanged,
    definition,
    listDefinition: listType ? definitionOf(listType) : customDefinitionOf(group, version.name, names.listKind),
    deleteAnswers: !isCustom && traits.returnsDeletedObject ? definition : STATUS,
  }
  const { status, scale, parts = {} } = version.subresources
  const part = { ...whole, verbs: SUBRESOURCE_VERBS }
  // The operations on the scale of a custom kind are told as operations on the kind.
  const scaled = isCustom ? exchanged : { group: 'autoscaling', version: 'v1', kind: 'Scale' }
  return [
    whole,
    ...(status ? [{ ...part, subresource: 'status' }] : []),
    ...Object.keys(parts).flatMap(name => [{ ...part, subresource: name, verbs: verbsOfSubresource(version, name) }]),
    ...(scale ? [{ ...part, subresource: 'scale', exchanged: scaled, definition: SCALE }] : []),
  ]
}

function extraResource(
  types: TypeTable,
  apiVersion: string,
  facts: ResourceFacts,
  parents: readonly { readonly plural: string; readonly kind: string }[],
): PublishedResource[] {
  const slash = apiVersion.indexOf('/')
  const [plural = '', subresource = ''] = facts.name.split('/')
  const { group = apiVersion.slice(0, Math.max(slash, 0)), version = apiVersion.slice(slash + 1), kind } = facts
  const type = types.ofKind(printGroupVersion({ group, version }), kind)?.name
  const parent = parents.find(each => each.plural === plural)
  // Streams and connections exchange no objects.
  if (!type || !parent || kind.endsWith('Options') || subresource === 'log') return []
  const listType = types.ofKind(apiVersion, `${kind}List`)?.name
  const definition = definitionOf(type)
  return [
    {
      plural,
      subresource,
      kind: parent.kind,
      namespaced: facts.namespaced,
      isCustom: false,
      verbs: facts.verbs,
      exchanged: { group, version, kind },
      definition,
      listDefinition: listType ? definitionOf(listType) : definition,
      deleteAnswers: STATUS,
    },
  ]
}

const bare = (extras: readonly ResourceFacts[]): { plural: string; kind: string }[] =>
  extras.filter(({ name }) => !name.includes('/')).map(({ name, kind }) => ({ plural: name, kind }))
