// Histories of concurrent clients on the embedded store: during compaction, while it is closed and opened again, and
// with a watch cache on top.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createWatchCache } from '../../src/storage/cache/watch-cache.js'
import { openLmdbStore } from '../../src/storage/lmdb/lmdb-store.js'
import type { Store } from '../../src/storage/store.js'
import { expectSound } from './history/check.js'
import { PREFIX, startWorkload } from './history/workload.js'

describe.each<[name: string, on: (store: Store) => Store]>([
  ['the embedded store', store => store],
  ['a watch cache on the embedded store', store => createWatchCache(store, PREFIX)],
  ['a watch cache that forgets soon', store => createWatchCache(store, PREFIX, { window: { events: 5 } })],
])('histories on %s', (_, on) => {
  it('are sound with many clients and watchers', async () => {
    const place = await openDirectory(on)
    const workload = startWorkload({ stores: [() => place.store], clients: 12, watchers: 6 })
    await workload.answered(3000)
    expectSound(await workload.finish())
    expect(workload.recorder.errors).toBe(0)
  })

  it('are sound while history is compacted', async () => {
    const place = await openDirectory(on)
    const workload = startWorkload({ stores: [() => place.store], clients: 12, watchers: 6 })
    for (let i = 0; i < 20; i++) {
      await workload.answered(100)
      await workload.compact()
    }
    expectSound(await workload.finish())
  })

  it('are sound when the store is closed and opened again', async () => {
    const place = await openDirectory(on)
    const workload = startWorkload({ stores: [() => place.store], clients: 12, watchers: 6 })
    for (let i = 0; i < 5; i++) {
      await workload.answered(300)
      workload.closing()
      await place.close()
      await place.open()
      workload.reopened()
      if (i === 3) await workload.compact()
    }
    await workload.acknowledged(100)
    expectSound(await workload.finish())
  })
})

/** A data directory and its open store; both are removed after the test. */
async function openDirectory(on: (store: Store) => Store) {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-lmdb-'))
  const open = async () => {
    const bottom = await openLmdbStore(directory)
    return { bottom, top: on(bottom) }
  }
  let { bottom, top } = await open()
  const close = async (): Promise<void> => {
    await top.close()
    await bottom.close()
  }
  onTestFinished(async () => {
    await close()
    rmSync(directory, { recursive: true, force: true })
  })
  return {
    get store(): Store {
      return top
    },
    close,
    async open(): Promise<void> {
      ;({ bottom, top } = await open())
    },
  }
}
