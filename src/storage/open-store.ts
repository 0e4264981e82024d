// Opens the store that a configuration names, with the keeping of its history.
import { type EtcdStoreOptions, openEtcdStore } from './etcd/etcd-store.js'
import { HISTORY_MS, keepHistory } from './history-keeper.js'
import { openLmdbStore } from './lmdb/lmdb-store.js'
import { createMemoryStore } from './memory/memory-store.js'
import type { Store } from './store.js'

export type StorageOptions =
  | { readonly kind: 'memory'; readonly historyMs?: number }
  | { readonly kind: 'lmdb'; readonly folder: string; readonly historyMs?: number }
  | ({ readonly kind: 'etcd'; readonly historyMs?: number } & EtcdStoreOptions)

export async function openStore(options: StorageOptions): Promise<Store> {
  const { historyMs = HISTORY_MS } = options
  switch (options.kind) {
    case 'memory':
      return withHistory(createMemoryStore(), historyMs)
    case 'lmdb':
      return withHistory(await openLmdbStore(options.folder), historyMs)
    case 'etcd':
      return openEtcdStore(options)
  }
}

function withHistory(store: Store, historyMs: number): Store {
  const keeper = keepHistory(store, historyMs)
  return {
    ...store,
    async close() {
      keeper.stop()
      await store.close()
    },
  }
}
