// The stores of all kinds: one for each kind, made when it is first used.
import type { Kind } from '../kinds/kind.js'
import type { Store } from '../storage/store.js'
import { createObjectStore, type ObjectStore } from './object-store.js'

export interface ObjectStores {
  objectStore(kind: Kind): ObjectStore
  /** The kind was removed or replaced: ends the watches of its objects. */
  retire(kind: Kind): void
  close(): Promise<void>
}

export function createObjectStores(store: Store): ObjectStores {
  // By the versions: a kind that differs in nothing that concerns its objects is still served from the same place. A kind
  // that was replaced keeps its store for the requests that began with it.
  const made = new WeakMap<Kind['versions'], ObjectStore>()
  const inUse = new Set<ObjectStore>()

  function objectStore(kind: Kind): ObjectStore {
    const known = made.get(kind.versions)
    if (known) return known
    const created = createObjectStore(store, kind)
    made.set(kind.versions, created)
    inUse.add(created)
    return created
  }

  return {
    objectStore,
    retire(kind) {
      const known = objectStore(kind)
      known.cache.retire()
      inUse.delete(known)
    },
    async close() {
      await Promise.all([...inUse].map(({ cache }) => cache.close()))
    },
  }
}
