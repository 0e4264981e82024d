// The registry of kinds. A changed kind is replaced by a new value at once; running requests finish with the value that
// they started with.
import type { Kind, KindVersion } from './kind.js'

export interface VersionedKind {
  readonly kind: Kind
  readonly version: KindVersion
}

export interface Registry {
  /** Adds a kind, or replaces the one with the same group and plural. */
  put(kind: Kind): void
  remove(group: string, plural: string): void
  /** Finds the kind that is served under a plural, not under a short name. */
  find(group: string, version: string, plural: string): VersionedKind | undefined
  findKind(group: string, kind: string): Kind | undefined
  /** Finds the kind whose objects have this key in the store, by the first parts of the key: `/apps/deployments/…`. */
  ofKey(key: string): Kind | undefined
  all(): Iterable<Kind>
  inGroup(group: string): Iterable<Kind>
  /** Incremented on every change, so that derived values can be checked for validity. */
  readonly generation: number
  /** The listener gets the group of the kind that has changed. Returns a function that removes it. */
  onChange(listener: (group: string) => void): () => void
}

export function createRegistry(): Registry {
  const kinds = new Map<string, Kind>()
  /** By group and id. There may be thousands of kinds: what depends on one group must not go through all of them. */
  const groups = new Map<string, Map<string, Kind>>()
  /** By plural: few kinds share one, and comparing group and version is cheaper than building a key per request. */
  const served = new Map<string, VersionedKind[]>()
  const byKind = new Map<string, Kind>()
  const byKeyPrefix = new Map<string, Kind>()
  const listeners = new Set<(group: string) => void>()
  let generation = 0

  function takeOut(kind: Kind): void {
    const { plural } = kind.names
    served.set(
      plural,
      servedAs(plural).filter(each => each.kind !== kind),
    )
    const named = address(kind.group, kind.names.kind)
    if (byKind.get(named) === kind) byKind.delete(named)
    if (byKeyPrefix.get(kind.keyPrefix) === kind) byKeyPrefix.delete(kind.keyPrefix)
  }

  const servedAs = (plural: string): VersionedKind[] => served.get(plural) ?? []

  function changed(group: string): void {
    generation++
    for (const listener of listeners) listener(group)
  }

  return {
    put(kind) {
      const id = address(kind.group, kind.names.plural)
      const old = kinds.get(id)
      if (old) takeOut(old)
      kinds.set(id, kind)
      const group = groups.get(kind.group)
      if (group) group.set(id, kind)
      else groups.set(kind.group, new Map([[id, kind]]))
      byKeyPrefix.set(kind.keyPrefix, kind)
      byKind.set(address(kind.group, kind.names.kind), kind)
      const { plural } = kind.names
      const versions = kind.versions.filter(version => version.served)
      served.set(plural, [...servedAs(plural), ...versions.map(version => ({ kind, version }))])
      changed(kind.group)
    },
    remove(group, plural) {
      const id = address(group, plural)
      const old = kinds.get(id)
      if (!old) return
      takeOut(old)
      kinds.delete(id)
      const others = groups.get(group)!
      others.delete(id)
      if (others.size === 0) groups.delete(group)
      changed(group)
    },
    find(group, version, plural) {
      return served.get(plural)?.find(each => each.kind.group === group && each.version.name === version)
    },
    findKind: (group, kind) => byKind.get(address(group, kind)),
    ofKey(key) {
      for (let end = key.indexOf('/', 1); end !== -1; end = key.indexOf('/', end + 1)) {
        const kind = byKeyPrefix.get(key.slice(0, end + 1))
        if (kind) return kind
      }
      return undefined
    },
    all: () => kinds.values(),
    inGroup: group => groups.get(group)?.values() ?? [],
    get generation() {
      return generation
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const address = (...parts: string[]): string => parts.join('/')
