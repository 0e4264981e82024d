import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../memory/memory-store.js'
import { StorageError } from '../storage-error.js'
import type { Store } from '../store.js'
import { createGatedStore } from './gated-store.suite.js'
import { type CacheChanges, createWatchCache } from './watch-cache.js'

const STORES: Record<string, () => Store> = { embedded: createMemoryStore, remote: () => createGatedStore() }
const bytes = (text: string): Buffer => Buffer.from(text)
const keysIn = (changes: CacheChanges<undefined> | undefined) => changes?.events.map(({ key }) => key)

describe.each(Object.keys(STORES))('the changes since a mark on the cache of a store that is %s', kind => {
  /** The window of events begins when something first needs it. */
  async function open(store = STORES[kind]!(), window = { events: 8 }) {
    const cache = createWatchCache(store, '/pods/', { window })
    await store.create('/pods/a/1', bytes('1'))
    cache.watch('/pods/', 1, { event() {}, end() {} })
    await cache.range('/pods/', { terms: [{ source: 'labels', name: 'x', values: ['y'] }] })
    return { store, cache, mark: cache.mark(await store.revision()) }
  }

  test('are the writes under a prefix', async () => {
    const { store, cache, mark } = await open()
    expect(await cache.changesSince('/pods/a/', mark, 'latest')).toMatchObject({ mark, events: [] })
    await store.create('/pods/a/2', bytes('2'))
    await store.create('/pods/b/1', bytes('1'))
    await store.create('/other/1', bytes('1'))
    const changes = await cache.changesSince('/pods/a/', mark, 'latest')
    expect(keysIn(changes)).toEqual(['/pods/a/2'])
    expect(changes!.mark.revision).toBe(await store.revision())
    expect(keysIn(await cache.changesSince('/pods/a/', changes!.mark, 'latest'))).toEqual([])
  })

  test('are not known at an exact revision, or at one that is not reached', async () => {
    const { cache, mark } = await open()
    expect(await cache.changesSince('/pods/a/', mark, { exactly: mark.revision })).toBeUndefined()
    expect(await cache.changesSince('/pods/a/', mark, { notOlderThan: mark.revision + 1 })).toBeUndefined()
    expect(keysIn(await cache.changesSince('/pods/a/', mark, { notOlderThan: mark.revision }))).toEqual([])
  })

  test('are not known from before the window', async () => {
    const { store, cache, mark } = await open()
    for (let i = 0; i < 20; i++) await store.create(`/pods/a/x${i}`, bytes(''))
    expect(await cache.changesSince('/pods/a/', mark, 'latest')).toBeUndefined()
  })
})

test('the changes are not known from before an interruption: the store may have other data since', async () => {
  const store = createGatedStore()
  const cache = createWatchCache(store, '/pods/', { retryAfter: 0 })
  await store.create('/pods/a', bytes('1'))
  await cache.range('/pods/')
  const mark = cache.mark(1)
  expect(await cache.changesSince('/pods/', mark, 'latest')).toMatchObject({ mark, events: [] })
  store.breakOldestWatch(new StorageError('unavailable', 'interrupted'))
  await cache.range('/pods/')
  expect(await cache.changesSince('/pods/', mark, 'latest')).toBeUndefined()
  expect(await cache.changesSince('/pods/', cache.mark(1), 'latest')).toMatchObject({ events: [] })
})
