// Reads objects by kind and name as they are stored now. For callers that look something up while they handle another
// object; requests of clients go through the verbs.

import type { Kind } from '../kinds/kind.js'
import type { Registry } from '../kinds/registry.js'
import type { GroupKind } from '../meta/group-version.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { Labels } from '../meta/selectors/label-selectors.js'
import { keyPrefixOf } from './object-store.js'
import type { ObjectStores } from './object-stores.js'
import { decodeStored } from './stored-object.js'

export interface Lister {
  /** Undefined if there is no such object, or no such kind. */
  find(kind: GroupKind, namespace: string, name: string): Promise<ApiObject | undefined>
  /** The objects of a namespace, or of a kind without namespaces, that have these labels, in the order of their names. */
  all(kind: GroupKind, namespace: string, labels?: Labels): Promise<readonly ApiObject[]>
}

export function createLister(registry: Registry, { objectStore }: Pick<ObjectStores, 'objectStore'>): Lister {
  const kindOf = ({ group, kind }: GroupKind): Kind | undefined => registry.findKind(group, kind)
  return {
    async find(of, namespace, name) {
      const kind = kindOf(of)
      const entry = kind && (await objectStore(kind).get(namespace, name))
      return entry && decodeStored(entry)
    },
    async all(of, namespace, labels = {}) {
      const kind = kindOf(of)
      if (!kind) return []
      const { entries } = await objectStore(kind).cache.range(keyPrefixOf(kind, namespace))
      const wanted = Object.entries(labels)
      if (wanted.length === 0) return entries.map(decodeStored)
      return entries
        .filter(({ attributes: { data } }) => wanted.every(([name, value]) => data.labels[name] === value))
        .map(decodeStored)
    },
  }
}
