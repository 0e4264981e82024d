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
  all(): Iterable<Kind>
  /** Incremented on every change, so that derived values can be checked for validity. */
  readonly generation: number
  /** Returns a function that removes the listener. */
  onChange(listener: () => void): () => void
}

export function createRegistry(): Registry {
  const kinds = new Map<string, Kind>()
  /** By plural: few kinds share one, and comparing group and version is cheaper than building a key per request. */
  const served = new Map<string, VersionedKind[]>()
  const byKind = new Map<string, Kind>()
  const listeners = new Set<() => void>()
  let generation = 0

  function takeOut(kind: Kind): void {
    const { plural } = kind.names
    served.set(
      plural,
      servedAs(plural).filter(each => each.kind !== kind),
    )
    const named = address(kind.group, kind.names.kind)
    if (byKind.get(named) === kind) byKind.delete(named)
  }

  const servedAs = (plural: string): VersionedKind[] => served.get(plural) ?? []

  function changed(): void {
    generation++
    for (const listener of listeners) listener()
  }

  return {
    put(kind) {
      const id = address(kind.group, kind.names.plural)
      const old = kinds.get(id)
      if (old) takeOut(old)
      kinds.set(id, kind)
      byKind.set(address(kind.group, kind.names.kind), kind)
      const { plural } = kind.names
      const versions = kind.versions.filter(version => version.served)
      served.set(plural, [...servedAs(plural), ...versions.map(version => ({ kind, version }))])
      changed()
    },
    remove(group, plural) {
      const id = address(group, plural)
      const old = kinds.get(id)
      if (!old) return
      takeOut(old)
      kinds.delete(id)
      changed()
    },
    find(group, version, plural) {
      return served.get(plural)?.find(each => each.kind.group === group && each.version.name === version)
    },
    findKind: (group, kind) => byKind.get(address(group, kind)),
    all: () => kinds.values(),
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
