// Objects that others look up while something else is written: as they are stored now.

import type { Kind } from '../kinds/kind.js'
import type { Registry } from '../kinds/registry.js'
import type { GroupKind } from '../meta/group-version.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { keyPrefixOf, type ObjectStore } from './object-store.js'
import { decodeStored } from './stored-object.js'

/** Objects as they are stored now. */
export interface Lister {
  find(kind: GroupKind, namespace: string, name: string): Promise<ApiObject | undefined>
  /** All in a namespace, or all of a kind that has none, by their names. */
  all(kind: GroupKind, namespace: string): Promise<readonly ApiObject[]>
}

export function createLister(registry: Registry, objectStore: (kind: Kind) => ObjectStore): Lister {
  const kindOf = ({ group, kind }: GroupKind): Kind | undefined => registry.findKind(group, kind)
  return {
    async find(of, namespace, name) {
      const kind = kindOf(of)
      const entry = kind && (await objectStore(kind).get(namespace, name))
      return entry && decodeStored(entry)
    },
    async all(of, namespace) {
      const kind = kindOf(of)
      if (!kind) return []
      const { entries } = await objectStore(kind).cache.range(keyPrefixOf(kind, namespace))
      return entries.map(decodeStored)
    },
  }
}
