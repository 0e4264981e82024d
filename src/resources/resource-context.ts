// What every verb works with: the stores of the kinds, the clock, and what a request is about.
import type { Kind } from '../kinds/kind.js'
import type { Store } from '../storage/store.js'
import type { Served } from './answer.js'
import { createKindStore, type KindStore } from './kind-store.js'

export interface ResourceContext {
  storeOf(kind: Kind): KindStore
  now(): number
  close(): Promise<void>
}

/** What a request addresses. */
export interface Target extends Served {
  /** Empty for cluster-scoped kinds, and for requests across all namespaces. */
  readonly namespace: string
  /** Empty for a collection. */
  readonly name: string
}

export function createResourceContext(store: Store, now: () => number = Date.now): ResourceContext {
  const stores = new Map<string, { readonly kind: Kind; readonly store: KindStore }>()
  return {
    now,
    storeOf(kind) {
      const known = stores.get(kind.folder)
      if (known?.kind === kind) return known.store
      // The kind was replaced: what selectors may ask for can have changed with it.
      void known?.store.cache.close()
      const made = createKindStore(store, kind)
      stores.set(kind.folder, { kind, store: made })
      return made
    },
    async close() {
      await Promise.all([...stores.values()].map(({ store: each }) => each.cache.close()))
    },
  }
}
