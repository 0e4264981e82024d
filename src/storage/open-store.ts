// Opens the store that the options select, and starts the compaction of its history.

import type { TimerClock } from '../base/clock.js'
import { HISTORY_MS, keepHistory } from './common/history-keeper.js'
import { createKeyLayout, DEFAULT_PREFIX } from './etcd/etcd-keys.js'
import type { EtcdStoreOptions } from './etcd/etcd-store.js'
import type { LmdbOptions } from './lmdb/lmdb-store.js'
import type { Store } from './store.js'

export { HISTORY_MS }

export type StorageOptions =
  | ({ readonly kind: 'memory' } & EmbeddedOptions)
  | ({ readonly kind: 'lmdb'; readonly directory: string } & EmbeddedOptions & LmdbOptions)
  | ({
      readonly kind: 'etcd'
      readonly historyMs?: number
      /** How long the start of a server waits for etcd to answer. */
      readonly startTimeoutMs?: number
      /** Resources whose objects are in another etcd. */
      readonly overrides?: readonly EtcdOverride[]
    } & EtcdStoreOptions)

export interface EtcdOverride {
  readonly group: string
  readonly resource: string
  readonly endpoints: readonly string[]
}

interface EmbeddedOptions {
  readonly historyMs?: number
  /** One that is open already. */
  readonly store?: Store | undefined
}

/** Each store is imported only when it is selected, so that start-up does not load the other implementations. */
export async function openStore(options: StorageOptions, clock?: TimerClock): Promise<Store> {
  const { historyMs = HISTORY_MS } = options
  switch (options.kind) {
    case 'memory': {
      const { createMemoryStore } = await import('./memory/memory-store.js')
      return withHistory(options.store ?? createMemoryStore(), historyMs, clock)
    }
    case 'lmdb': {
      const { openLmdbStore } = await import('./lmdb/lmdb-store.js')
      return withHistory(options.store ?? (await openLmdbStore(options.directory, options)), historyMs, clock)
    }
    case 'etcd': {
      const { openEtcdStore } = await import('./etcd/etcd-store.js')
      return openEtcdStore(options)
    }
  }
}

/** The key of etcd of each key. The other stores have no prefix, and have the default one in encrypted values. */
export function storedKeyOf(options: StorageOptions): (key: string) => Buffer {
  return createKeyLayout((options.kind === 'etcd' ? options.prefix : undefined) ?? DEFAULT_PREFIX).keyOf
}

function withHistory(store: Store, historyMs: number, clock: TimerClock | undefined): Store {
  const keeper = keepHistory(store, historyMs, clock)
  return {
    ...store,
    async close() {
      keeper.stop()
      await store.close()
    },
  }
}
