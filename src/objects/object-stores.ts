// The stores of all kinds: one for each kind, made when it is first used.
import type { Kind } from '../kinds/kind.js'
import type { Store } from '../storage/store.js'
import { createKindStore, type KindStore } from './object-store.js'

export interface ObjectStores {
  storeOf(kind: Kind): KindStore
  /** The kind was removed or replaced: ends the watches of its objects. */
  forget(kind: Kind): void
  close(): Promise<void>
}

export function createObjectStores(store: Store): ObjectStores {
  // By the versions: a kind that differs in nothing that concerns its objects is still served from the same place. A kind
  // that was replaced keeps its store for the requests that began with it.
  const made = new WeakMap<Kind['versions'], KindStore>()
  const inUse = new Set<KindStore>()

  function storeOf(kind: Kind): KindStore {
    const known = made.get(kind.versions)
    if (known) return known
    const created = createKindStore(store, kind)
    made.set(kind.versions, created)
    inUse.add(created)
    return created
  }

  return {
    storeOf,
    forget(kind) {
      const known = storeOf(kind)
      known.cache.retire()
      inUse.delete(known)
    },
    async close() {
      await Promise.all([...inUse].map(({ cache }) => cache.close()))
    },
  }
}
