// The stores of all kinds of a server: one for each kind, created when it is first used.
import type { InternedParts } from '../codec/json.js'
import type { Kind } from '../kinds/kind.js'
import type { Store } from '../storage/store.js'
import { createObjectStore, createSharedByStores, type ObjectStore } from './object-store.js'
import type { ReadErrors } from './object-view.js'

export interface ObjectStores {
  objectStore(kind: Kind): ObjectStore
  /** The kind was removed or replaced: ends the watches of its objects. */
  retire(kind: Kind): void
  /** The stores in use, each with its kind. */
  all(): Iterable<readonly [Kind, ObjectStore]>
  close(): Promise<void>
}

/** `parts`: those that the store below has read and written, if it encodes objects. */
export function createObjectStores(
  store: Store,
  errors: ReadErrors = { wrapsReadErrors: true },
  parts?: InternedParts,
): ObjectStores {
  const shared = createSharedByStores(errors, parts)
  // By the versions: a kind that changes in nothing that concerns its objects keeps its store. A kind that was replaced
  // keeps its store for the requests that began with it.
  const stores = new WeakMap<Kind['versions'], ObjectStore>()
  const inUse = new Map<ObjectStore, Kind>()

  function objectStore(kind: Kind): ObjectStore {
    let found = stores.get(kind.versions)
    if (!found) {
      found = createObjectStore(store, kind, shared)
      stores.set(kind.versions, found)
      inUse.set(found, kind)
    }
    return found
  }

  return {
    objectStore,
    retire(kind) {
      const retired = objectStore(kind)
      retired.cache.retire()
      inUse.delete(retired)
      shared.knownLists.retire(kind.versions)
    },
    *all() {
      for (const [each, kind] of inUse) yield [kind, each]
    },
    async close() {
      await Promise.all([...inUse.keys()].map(({ cache }) => cache.close()))
    },
  }
}
