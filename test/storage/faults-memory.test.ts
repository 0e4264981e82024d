// Histories of concurrent clients on the memory store: directly, with a simulated network, and with a watch cache.
import { describe, expect, it, onTestFinished } from 'vitest'
import { createWatchCache } from '../../src/storage/cache/watch-cache.js'
import { createMemoryStore } from '../../src/storage/memory/memory-store.js'
import type { Store } from '../../src/storage/store.js'
import { expectSound } from './history/check.js'
import { createRandom, SEED } from './history/random.js'
import { type Connection, createRemoteStore } from './history/remote-store.js'
import { PREFIX, startWorkload } from './history/workload.js'

type Arrangement = (memory: Store, connection: Connection) => Store

const far: Arrangement = (store, connection) => createRemoteStore(store, createRandom(SEED), connection)

const cacheOf =
  (events: number): Arrangement =>
  (store, connection) =>
    createWatchCache(far(store, connection), PREFIX, { window: { events }, progressEvery: 5, retryAfter: 5 })

describe.each<[name: string, loss: number, arrange: Arrangement]>([
  ['the memory store', 0, store => store],
  ['a memory store far away', 0, far],
  ['a memory store behind a bad connection', 0.03, far],
  ['a watch cache', 0, store => createWatchCache(store, PREFIX)],
  ['a watch cache that forgets soon', 0, store => createWatchCache(store, PREFIX, { window: { events: 5 } })],
  ['a watch cache of a store far away', 0, cacheOf(1000)],
  ['a watch cache of a store far away that forgets soon', 0, cacheOf(5)],
  ['a watch cache of a store behind a bad connection', 0.03, cacheOf(5)],
])('histories on %s', (_, loss, arrange) => {
  it('are sound with many clients and watchers', async () => {
    const connection = { loss }
    const store = open(arrange, connection)
    const workload = startWorkload({ stores: [() => store], clients: 8, watchers: 6 })
    await workload.answered(3000)
    connection.loss = 0
    expectSound(await workload.finish())
    expect(workload.recorder.errors > 0).toBe(loss > 0)
  })

  it('are sound while history is compacted', async () => {
    const connection = { loss }
    const store = open(arrange, connection)
    const workload = startWorkload({ stores: [() => store], clients: 8, watchers: 6 })
    for (let i = 0; i < 20; i++) {
      await workload.answered(100)
      await workload.compact()
    }
    connection.loss = 0
    expectSound(await workload.finish())
  })
})

function open(arrange: Arrangement, connection: Connection): Store {
  const memory = createMemoryStore()
  const store = arrange(memory, connection)
  onTestFinished(async () => {
    await store.close()
    await memory.close()
  })
  return store
}
