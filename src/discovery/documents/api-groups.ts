// The groups of the API with their versions and resources, derived from the registry group by group: when a kind changes,
// only its own group is derived again.

import { once } from '../../base/memo.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { compareTexts } from '../../meta/go/go-text.js'
import { groupPriority, versionPriority } from '../../meta/group-priorities.js'
import { compareVersions, printGroupVersion } from '../../meta/group-version.js'
import type { APIResource } from '../../types/type-table.js'
import { NO_REMOTE_VERSIONS, type RemoteVersion, type RemoteVersions } from '../remote-versions.js'
import { type ListedResource, resourcesOf } from './listed-resources.js'

export interface ApiGroup {
  readonly name: string
  readonly priority: number
  /** The preferred one first; there is at least one. */
  readonly versions: readonly ApiVersion[]
}

export interface ApiVersion {
  readonly group: string
  readonly name: string
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string
  /** Built-in: its routes check methods and media types. Custom groups accept any method. */
  readonly isRouted: boolean
  /** What another server has said of it, if that serves it. */
  readonly remote?: RemoteVersion | undefined
  resources(): readonly ListedResource[]
}

/** Resources that are served without a kind in the registry, by group version. */
export type ExtraResources = Readonly<Record<string, readonly APIResource[]>>

export interface ApiGroups {
  find(name: string): ApiGroup | undefined
  /** All but the core group, in order of preference. */
  named(): readonly ApiGroup[]
}

/** An unchanged group stays the same object, so that values derived from it can be cached by it. */
export function createApiGroups(
  registry: Registry,
  extras: ExtraResources,
  remote: RemoteVersions = NO_REMOTE_VERSIONS,
): ApiGroups {
  const extrasByGroup = byGroup(extras)
  let known = new Map<string, CachedGroup>()
  let inOrder: readonly ApiGroup[] = []
  let generation = -1
  let remoteGeneration = -1

  function refresh(): void {
    if (generation === registry.generation && remoteGeneration === remote.generation) return
    generation = registry.generation
    remoteGeneration = remote.generation
    const kinds = new Map<string, Kind[]>([...extrasByGroup.keys()].map(group => [group, []]))
    for (const kind of registry.all()) {
      const others = kinds.get(kind.group)
      if (others) others.push(kind)
      else kinds.set(kind.group, [kind])
    }
    const elsewhere = new Map<string, RemoteVersion[]>()
    for (const version of remote.all()) {
      elsewhere.set(version.group, [...(elsewhere.get(version.group) ?? []), version])
      if (!kinds.has(version.group)) kinds.set(version.group, [])
    }
    const fresh = new Map<string, CachedGroup>()
    for (const [name, own] of kinds) {
      const old = known.get(name)
      const others = elsewhere.get(name) ?? []
      const isUnchanged = old && isSame(old.kinds, own) && isSame(old.remote, others)
      fresh.set(name, isUnchanged ? old : createCachedGroup(name, own, extrasByGroup.get(name) ?? [], others))
    }
    known = fresh
    inOrder = [...fresh.values()]
      .flatMap(({ group }) => group ?? [])
      .filter(({ name }) => name !== '')
      .toSorted(compareGroups)
  }

  return {
    find(name) {
      refresh()
      return known.get(name)?.group
    },
    named() {
      refresh()
      return inOrder
    },
  }
}

/** The cached group for a list of kinds; undefined while none of them is served. */
interface CachedGroup {
  readonly kinds: readonly Kind[]
  readonly remote: readonly RemoteVersion[]
  readonly group: ApiGroup | undefined
}

interface ExtrasOfVersion {
  readonly version: string
  readonly resources: readonly APIResource[]
}

function createCachedGroup(
  name: string,
  kinds: readonly Kind[],
  extras: readonly ExtrasOfVersion[],
  remote: readonly RemoteVersion[],
): CachedGroup {
  const names = new Set([
    ...kinds.flatMap(kind => kind.versions.filter(({ served }) => served).map(version => version.name)),
    // Subresources alone do not make a version: they depend on the kinds that they belong to.
    ...extras.filter(({ resources }) => resources.some(isComplete)).map(({ version }) => version),
  ])
  for (const { version } of remote) names.add(version)
  const versions = [...names]
    .map(version => {
      const elsewhere = remote.find(each => each.version === version)
      if (elsewhere) return remoteVersionOf(elsewhere)
      const own = extras.flatMap(each => (each.version === version ? each.resources : []))
      return apiVersionOf(name, version, kinds, own)
    })
    .toSorted((a, b) => priorityOf(b) - priorityOf(a) || compareVersions(a.name, b.name))
  if (versions.length === 0) return { kinds, remote, group: undefined }
  const priority = Math.max(...versions.map(each => each.remote?.groupPriority ?? groupPriority(name)))
  return { kinds, remote, group: { name, priority, versions } }
}

const priorityOf = ({ remote, group, name }: ApiVersion): number =>
  remote?.versionPriority ?? versionPriority(group, name)

const remoteVersionOf = (remote: RemoteVersion): ApiVersion => ({
  group: remote.group,
  name: remote.version,
  apiVersion: printGroupVersion(remote),
  isRouted: false,
  remote,
  resources: () => [],
})

function apiVersionOf(group: string, name: string, kinds: readonly Kind[], extras: readonly APIResource[]): ApiVersion {
  const served = kinds.flatMap(kind =>
    kind.versions.flatMap(version => (version.served && version.name === name ? [{ kind, version }] : [])),
  )
  const isRouted = extras.length > 0 || served.some(({ kind }) => kind.origin === 'builtin')
  return {
    group,
    name,
    apiVersion: printGroupVersion({ group, version: name }),
    isRouted,
    resources: once(() => {
      const own = served
        .toSorted((a, b) => compareTexts(a.kind.names.plural, b.kind.names.plural))
        .flatMap(({ kind, version }) => resourcesOf(kind, version))
      // Built-in resources are sorted by name; custom kinds keep the order of their subresources.
      return isRouted ? withExtras(own, extras).toSorted((a, b) => compareTexts(a.name, b.name)) : own
    }),
  }
}

/** Kinds of the registry take precedence, and a subresource is omitted if its resource is not served. */
function withExtras(own: readonly ListedResource[], extras: readonly APIResource[]): ListedResource[] {
  const names = new Set(own.map(({ name }) => name))
  const more = extras.filter(({ name }) => !names.has(name))
  const parents = new Set([...names, ...more.map(({ name }) => name)])
  return [...own, ...more.filter(each => isComplete(each) || parents.has(each.name.split('/', 1)[0]!))]
}

const isComplete = ({ name }: APIResource): boolean => !name.includes('/')

function byGroup(extras: ExtraResources): ReadonlyMap<string, readonly ExtrasOfVersion[]> {
  const groups = new Map<string, ExtrasOfVersion[]>()
  for (const [apiVersion, resources] of Object.entries(extras)) {
    const slash = apiVersion.indexOf('/')
    const group = apiVersion.slice(0, Math.max(slash, 0))
    const all = groups.get(group) ?? []
    groups.set(group, [...all, { version: apiVersion.slice(slash + 1), resources }])
  }
  return groups
}

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((each, i) => each === b[i])

/** By priority, then by name. */
const compareGroups = (a: ApiGroup, b: ApiGroup): number => b.priority - a.priority || compareTexts(a.name, b.name)
