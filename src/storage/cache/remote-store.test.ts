// The cache of a remote store: it holds all entries, and must know how fresh they are.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StorageError } from '../storage-error.js'
import { recordWatch } from '../watch-recorder.suite.js'
import { createGatedStore, type GatedStore } from './gated-store.suite.js'
import { createWatchCache, type WatchCache } from './watch-cache.js'

let store: GatedStore
let cache: WatchCache<undefined>

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
  store = createGatedStore()
  cache = createWatchCache(store, '/pods/', { pageSize: 4 })
})

afterEach(async () => {
  await cache.close()
  await store.close()
  vi.useRealTimers()
})

describe('the state in memory', () => {
  test('is loaded in pages of one revision, once for all concurrent readers', async () => {
    for (let i = 0; i < 10; i++) await store.create(`/pods/${i}`, bytes(`${i}`))
    const range = store.range
    store.range = async (prefix, options) => {
      const page = await range(prefix, options)
      await store.create(`/pods/new-${page.remaining}`, bytes('')) // a write between the pages
      return page
    }
    const pages = await Promise.all(Array.from({ length: 20 }, () => cache.range('/pods/', { at: 'any' })))
    expect(store.calls.range).toBe(3)
    for (const page of pages) expect(page.entries).toHaveLength(10 + page.revision - 10)
    expect((await cache.range('/pods/')).entries).toHaveLength(13)
  })

  test('answers reads of any state, without a call', async () => {
    await load()
    const calls = { ...store.calls }
    await store.create('/pods/a', bytes('1'))
    expect((await cache.get('/pods/a', 'any'))?.revision).toBe(1)
    expect((await cache.range('/pods/', { at: 'any' })).entries).toHaveLength(1)
    store.held = true
    await store.create('/pods/b', bytes('2'))
    expect(await cache.get('/pods/b', 'any')).toBeUndefined()
    expect(await cache.range('/pods/', { at: 'any' })).toMatchObject({ revision: 1, entries: [{ key: '/pods/a' }] })
    expect(store.calls).toEqual(calls)
  })

  test('is known with the writes of this process, before their events arrive', async () => {
    await load()
    store.held = true
    const { revision } = (await cache.create('/pods/a', bytes('1'))) as { revision: number }
    expect(cache.getKnown('/pods/a')).toMatchObject({ key: '/pods/a', value: bytes('1'), revision })
    await cache.update('/pods/a', bytes('2'), revision)
    expect(cache.getKnown('/pods/a')).toMatchObject({ value: bytes('2'), revision: revision + 1 })
    await store.create('/pods/of-another-process', bytes('1'))
    expect(cache.getKnown('/pods/of-another-process')).toBeUndefined()
    await cache.delete('/pods/a', revision + 1)
    expect(cache.getKnown('/pods/a')).toBeUndefined()
    expect(await cache.get('/pods/a', 'any')).toBeUndefined()
  })

  test('is known as a refused write has found it', async () => {
    await load()
    store.held = true
    const { revision } = (await cache.create('/pods/a', bytes('own'))) as { revision: number }
    await store.update('/pods/a', bytes('other'), revision)
    expect(await cache.update('/pods/a', bytes('late'), revision)).toMatchObject({ done: false })
    expect(cache.getKnown('/pods/a')).toMatchObject({ value: bytes('other'), revision: revision + 1 })
  })

  test('is known with the writes of others once their events have arrived', async () => {
    await load()
    store.held = true
    const { revision } = (await cache.create('/pods/a', bytes('own'))) as { revision: number }
    await store.update('/pods/a', bytes('other'), revision)
    expect(cache.getKnown('/pods/a')?.value).toEqual(bytes('own'))
    store.held = false
    await cache.get('/pods/a')
    expect(cache.getKnown('/pods/a')?.value).toEqual(bytes('other'))
  })

  test('is not known before it is loaded', async () => {
    await cache.create('/pods/a', bytes('1'))
    expect(cache.getKnown('/pods/a')).toBeUndefined()
    await load()
    expect(cache.getKnown('/pods/a')?.revision).toBe(1)
  })

  test('is not used for an entry that the store cannot read any more', async () => {
    await load()
    await store.create('/pods/a', bytes('1'))
    await store.create('/pods/b', bytes('2'))
    const calls = { ...store.calls }
    Object.assign(store, { isUnreadable: (key: string) => key === '/pods/a' })
    await cache.get('/pods/a', 'any')
    await cache.get('/pods/b', 'any')
    expect(store.calls.get).toBe(calls.get + 1)
    expect(cache.getKnown('/pods/a')).toBeUndefined()
    expect((await cache.range('/pods/', { at: 'any' })).entries).toHaveLength(2)
  })

  test('is not used for the latest state while the store is at an earlier revision than before', async () => {
    await load()
    await store.create('/pods/lost', bytes('1'))
    expect(await cache.get('/pods/lost')).toBeDefined()
    const backup = createGatedStore()
    Object.assign(store, { revision: backup.revision, get: backup.get, range: backup.range })
    expect(await cache.get('/pods/lost')).toBeUndefined()
    expect((await cache.range('/pods/')).entries).toEqual([])
    await backup.close()
  })

  test('counts the remaining entries of a prefix', async () => {
    for (const key of ['a/1', 'a/2', 'b/1', 'b/2', 'b/3', 'b/4', 'c/1']) await store.create(`/pods/${key}`, bytes(''))
    await load()
    const page = async (limit: number, startAfter?: string) =>
      (await cache.range('/pods/b/', { at: 'any', limit, startAfter })).remaining
    expect(await page(1)).toBe(3)
    expect(await page(4)).toBe(0)
    expect(await page(2, '/pods/b/1')).toBe(1)
    expect(await page(9, '/pods/b/4')).toBe(0)
    await store.delete('/pods/b/3', 5)
    expect(await page(1)).toBe(2)
  })

  test('answers reads at exactly the revisions that its window reaches back to', async () => {
    await store.create('/pods/a', bytes('1'))
    await load()
    await store.update('/pods/a', bytes('2'), 1)
    await store.create('/nodes/a', bytes('x'))
    await cache.get('/pods/a') // now the cache knows that it is at revision 3
    const { get, range } = store.calls
    for (const exactly of [2, 3]) {
      expect((await cache.get('/pods/a', { exactly }))?.value.toString()).toBe('2')
      expect(await cache.range('/pods/', { at: { exactly } })).toMatchObject({ revision: exactly, remaining: 0 })
    }
    expect((await cache.get('/pods/a', { exactly: 1 }))?.value.toString()).toBe('1')
    expect(await cache.range('/pods/', { at: { exactly: 1 } })).toMatchObject({
      revision: 1,
      entries: [{ revision: 1 }],
    })
    expect(store.calls).toMatchObject({ get, range })
    await expect(cache.get('/pods/a', { exactly: 4 })).rejects.toMatchObject({ code: 'future-revision' })
    expect(store.calls).toMatchObject({ get: get + 1, range })
    await cache.compact(2)
    await expect(cache.get('/pods/a', { exactly: 1 })).rejects.toMatchObject({ code: 'compacted' })
    await expect(cache.range('/pods/', { at: { exactly: 1 } })).rejects.toMatchObject({ code: 'compacted' })
  })

  test('answers pages at an earlier revision, with what was deleted and changed since', async () => {
    for (let i = 1; i <= 5; i++) await store.create(`/pods/${i}`, bytes('old'))
    await load()
    await store.delete('/pods/2', 2)
    await store.update('/pods/4', bytes('new'), 4)
    await store.create('/pods/6', bytes('new'))
    await cache.get('/pods/1')
    const { range } = store.calls
    const page = async (startAfter?: string) => {
      const { entries, remaining } = await cache.range('/pods/', { at: { exactly: 5 }, limit: 2, startAfter })
      return [...entries.map(({ key, value }) => `${key} ${value.toString()}`), remaining]
    }
    expect(await page()).toEqual(['/pods/1 old', '/pods/2 old', 3])
    expect(await page('/pods/2')).toEqual(['/pods/3 old', '/pods/4 old', 1])
    expect(await page('/pods/4')).toEqual(['/pods/5 old', 0])
    expect(store.calls.range).toBe(range)
  })

  test('does not keep the network messages of its values in memory', async () => {
    const message = Buffer.alloc(64 * 1024)
    const range = store.range
    store.range = async (prefix, options) => {
      const page = await range(prefix, options)
      const value = message.subarray(5, 9)
      return { ...page, entries: page.entries.map(({ key, revision }) => ({ key, value, revision })) }
    }
    await store.create('/pods/a', bytes('1'))
    const entry = await cache.get('/pods/a', 'any')
    expect(entry?.value).toEqual(Buffer.alloc(4))
    expect(entry?.value.buffer.byteLength).toBe(4)
  })
})

describe('a read of the latest', () => {
  test('waits for acknowledged writes, and is answered from memory', async () => {
    await load()
    store.held = true
    await cache.create('/pods/a', bytes('1'))
    const { get } = store.calls
    const reading = cache.get('/pods/a')
    const first = await Promise.race([reading, turns()])
    expect(first).toBe('nothing came')
    store.held = false
    expect(await reading).toMatchObject({ key: '/pods/a', revision: 1 })
    expect(store.calls.get).toBe(get)
  })

  test('needs progress when the latest write was elsewhere', async () => {
    await load()
    await store.create('/nodes/a', bytes('1'))
    expect((await cache.range('/pods/')).revision).toBe(1)
    expect(store.calls).toMatchObject({ range: 1, progress: 1 })
  })

  test('shares revision requests to the store with other reads', async () => {
    await load()
    await store.create('/nodes/a', bytes('1'))
    const before = { ...store.calls }
    const reads = Array.from({ length: 100 }, () => cache.get('/pods/a'))
    await Promise.all(reads)
    expect(store.calls.revision - before.revision).toBe(1)
    expect(store.calls.progress - before.progress).toBe(1)
  })

  test('does not use a revision request from before it began', async () => {
    await load()
    const revision = store.revision
    let answer = () => {}
    store.revision = async () => {
      const found = await revision()
      await new Promise<void>(resolve => {
        answer = resolve
      })
      return found
    }
    const early = cache.get('/pods/a')
    await turns()
    store.held = true
    await cache.create('/pods/a', bytes('1'))
    const late = cache.get('/pods/a')
    answer()
    expect(await early).toBeUndefined()
    await turns()
    answer()
    await turns()
    store.held = false
    expect((await late)?.revision).toBe(1)
  })

  test('is answered by the store when the cache does not reach the revision in time', async () => {
    await load()
    store.held = true
    await cache.create('/pods/a', bytes('1'))
    const reading = cache.get('/pods/a')
    await turns()
    expect(store.calls.get).toBe(0)
    await vi.advanceTimersByTimeAsync(3_000)
    expect((await reading)?.revision).toBe(1)
    expect(store.calls.get).toBe(1)
    expect(store.calls.progress).toBeGreaterThan(10)
    // The next read does not wait for a stalled watch …
    expect((await cache.get('/pods/a'))?.revision).toBe(1)
    expect(store.calls.get).toBe(2)
    // … but the cache is used again as soon as the watch advances.
    store.held = false
    expect((await cache.get('/pods/a'))?.revision).toBe(1)
    expect(store.calls.get).toBe(2)
  })

  test('detects that a stalled watch advances again', async () => {
    await load()
    store.progressLost = true
    await store.create('/nodes/a', bytes('1'))
    const reading = cache.range('/pods/')
    await vi.advanceTimersByTimeAsync(3_000)
    await reading
    expect(store.calls.range).toBe(2)
    store.progressLost = false
    await vi.advanceTimersByTimeAsync(200)
    await cache.range('/pods/')
    await turns()
    expect(store.calls.range).toBe(3)
    expect((await cache.range('/pods/')).revision).toBe(1)
    expect(store.calls.range).toBe(3)
  })

  test('is answered by the store at once when progress cannot be requested', async () => {
    store.promptProgress = false
    await load()
    await store.create('/pods/a', bytes('1'))
    expect((await cache.get('/pods/a'))?.revision).toBe(1)
    expect(store.calls).toMatchObject({ get: 0, progress: 0 })
    await store.create('/nodes/a', bytes('1'))
    expect((await cache.get('/pods/a'))?.revision).toBe(1)
    expect(store.calls).toMatchObject({ get: 1, progress: 0 })
  })

  test('is answered by the store when the revision request fails', async () => {
    await load()
    store.revision = () => new Promise(() => {})
    await store.create('/pods/a', bytes('1'))
    const reading = cache.get('/pods/a')
    await vi.advanceTimersByTimeAsync(3_000)
    expect((await reading)?.revision).toBe(1)
    expect(store.calls.get).toBe(1)
  })
})

describe('a read not older than a revision', () => {
  test('is answered from memory when the cache has reached it', async () => {
    await load()
    await store.create('/pods/a', bytes('1'))
    const calls = { ...store.calls }
    expect((await cache.get('/pods/a', { notOlderThan: 1 }))?.revision).toBe(1)
    expect(store.calls).toEqual(calls)
  })

  test('waits for the cache to reach it', async () => {
    await load()
    store.held = true
    await store.create('/pods/a', bytes('1'))
    const reading = cache.range('/pods/', { at: { notOlderThan: 1 } })
    await turns()
    store.held = false
    expect(await reading).toMatchObject({ revision: 1, entries: [{ key: '/pods/a' }] })
    expect(store.calls.range).toBe(1)
  })

  test('fails at once when the revision has not happened', async () => {
    await load()
    await expect(cache.get('/pods/a', { notOlderThan: 1 })).rejects.toMatchObject({ code: 'future-revision' })
  })
})

describe('a store that does not answer', () => {
  test('makes reads fail without waiting, and the cache loads later', async () => {
    store.failing = true
    await expect(cache.get('/pods/a', 'any')).rejects.toMatchObject({ code: 'unavailable' })
    await expect(cache.range('/pods/')).rejects.toMatchObject({ code: 'unavailable' })
    store.failing = false
    await store.create('/pods/a', bytes('1'))
    expect((await cache.get('/pods/a', 'any'))?.revision).toBe(1) // too soon to load again: from the store
    expect(store.calls.get).toBe(2)
    await vi.advanceTimersByTimeAsync(100)
    expect((await cache.get('/pods/a', 'any'))?.revision).toBe(1)
    expect(store.calls.get).toBe(2)
  })

  test('is retried with growing delays', async () => {
    store.failing = true
    for (let i = 0; i < 1_000; i++) {
      await expect(cache.get('/pods/a', 'any')).rejects.toMatchObject({ code: 'unavailable' })
      await vi.advanceTimersByTimeAsync(10)
    }
    // after 0, 100, 300, 700, 1500, 3100 and 6300 ms
    expect(store.calls.range).toBe(7)
  })

  test('does not block readers during a slow load, and keeps watchers', async () => {
    const range = store.range
    let answer = () => {}
    store.range = async (prefix, options) => {
      await new Promise<void>(resolve => {
        answer = resolve
      })
      return range(prefix, options)
    }
    const reading = cache.get('/pods/a', 'any')
    const seen = recordWatch(cache, '/pods/', 0)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(await reading).toBeUndefined()
    await store.create('/pods/a', bytes('1'))
    await seen.count(1)
    expect((await cache.get('/pods/a', 'any'))?.revision).toBe(1)
    expect(store.calls.get).toBe(2)
    answer()
    await turns()
    expect(store.watches).toBe(1) // the watcher has switched to the cache's own watch
    await store.create('/pods/b', bytes('2'))
    expect((await seen.count(2)).map(event => event.revision)).toEqual([1, 2])
  })
})

describe('an upstream watch that ends', () => {
  test('ends watchers with `compacted`; reads and new watches work again', async () => {
    await store.create('/pods/a', bytes('1'))
    const live = recordWatch(cache, '/pods/', 1)
    await turns()
    const paused = recordWatch(cache, '/pods/', 1)
    paused.pausing = true
    await store.create('/pods/b', bytes('2'))
    store.breakOldestWatch(new StorageError('compacted', 'too old'))
    expect(live.ended).toMatchObject({ code: 'compacted', message: expect.stringContaining('list again') })
    expect(paused.ended).toMatchObject({ code: 'compacted' })
    expect(live.events).toHaveLength(1)

    await store.create('/pods/c', bytes('3'))
    expect((await cache.range('/pods/', { at: 'any' })).revision).toBe(3)
    const soon = recordWatch(cache, '/pods/', 2)
    await vi.advanceTimersByTimeAsync(100)
    expect((await cache.range('/pods/', { at: 'any' })).entries).toHaveLength(3)
    const late = recordWatch(cache, '/pods/', 2)
    await turns()
    await store.create('/pods/d', bytes('4'))
    for (const seen of [soon, late]) {
      expect((await seen.count(2)).map(event => event.revision)).toEqual([3, 4])
    }
    expect(store.watches).toBe(1)
  })

  test('does not end a watcher that still reads the history of the store', async () => {
    for (let i = 0; i < 3; i++) await store.create(`/pods/${i}`, bytes(''))
    await load()
    store.held = true
    const seen = recordWatch(cache, '/pods/', 0)
    expect(store.watches).toBe(2)
    store.breakOldestWatch(new StorageError('compacted', 'too old'))
    store.held = false
    await store.create('/pods/3', bytes(''))
    expect((await seen.count(4)).map(event => event.revision)).toEqual([1, 2, 3, 4])
    expect(seen.ended).toBeUndefined()
  })

  test('makes waiting reads go to the store', async () => {
    await load()
    store.held = true
    await store.create('/pods/a', bytes('1'))
    const reading = cache.get('/pods/a')
    await turns()
    store.breakOldestWatch(new StorageError('unavailable', 'gone'))
    expect((await reading)?.revision).toBe(1)
  })
})

async function load(): Promise<void> {
  await cache.get('/pods/none', 'any')
}

const bytes = (text: string): Buffer => Buffer.from(text)

/** Runs everything that can run without timers. */
async function turns(): Promise<string> {
  for (let i = 0; i < 8; i++) await new Promise(resolve => setImmediate(resolve))
  return 'nothing came'
}
