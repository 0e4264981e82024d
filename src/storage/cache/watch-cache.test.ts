import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../memory/memory-store.js'
import type { Store } from '../store.js'
import { describeStore } from '../store.suite.js'
import { recordWatch, type WatchRecorder } from '../watch-recorder.suite.js'
import type { CachedEvent } from './entry-attributes.js'
import { createGatedStore } from './gated-store.suite.js'
import { createWatchCache, type WatchCacheOptions } from './watch-cache.js'

function cacheOn(store: Store, options: WatchCacheOptions<undefined> = {}) {
  return { store: createWatchCache(store, '/', options), close: () => store.close() }
}

describeStore('the watch cache on a memory store', async () => cacheOn(createMemoryStore()))
describeStore('the watch cache with a small window', async () =>
  cacheOn(createMemoryStore(), { window: { events: 10 } }),
)
describeStore('the watch cache on a remote store', async () => cacheOn(createGatedStore(), { pageSize: 7 }))

describe.each(['embedded', 'remote'])('the watch cache on a store that is %s', kind => {
  const open = () => {
    const store = createGatedStore({ embedded: kind === 'embedded' })
    let computed = 0
    const cache = createWatchCache(store, '/pods/', {
      getAttributes(key, value) {
        computed++
        return { indexedFields: { node: value.toString() }, labels: {}, data: { length: key.length } }
      },
    })
    return { store, cache, computed: () => computed }
  }

  test('answers only for its prefix', async () => {
    const { cache } = open()
    const sink = { event() {}, end() {} }
    await expect(cache.get('/nodes/a')).rejects.toMatchObject({ code: 'invalid-key' })
    await expect(cache.create('/nodes/a', bytes(''))).rejects.toMatchObject({ code: 'invalid-key' })
    await expect(cache.update('/nodes/a', bytes(''), 1)).rejects.toMatchObject({ code: 'invalid-key' })
    await expect(cache.delete('/nodes/a', 1)).rejects.toMatchObject({ code: 'invalid-key' })
    await expect(cache.range('/')).rejects.toMatchObject({ code: 'invalid-prefix' })
    await expect(cache.range('/podsets/')).rejects.toMatchObject({ code: 'invalid-prefix' })
    expect(() => cache.watch('/nodes/', 0, sink)).toThrow(/"\/nodes\/" is not in "\/pods\/"/)
    expect(() => cache.watch('/pods/a', 0, sink, { source: 'indexedFields', name: 'node', values: ['n1'] })).toThrow(
      /is not a prefix/,
    )
    expect(() => createWatchCache(createMemoryStore(), '/pods')).toThrow(/is not a prefix/)
  })

  test('computes attributes once per write, when they are first read', async () => {
    const { cache, computed } = open()
    await cache.create('/pods/a', bytes('n1'))
    const entry = await cache.get('/pods/a')
    expect(entry).toEqual({ key: '/pods/a', value: bytes('n1'), revision: 1 })
    const page = await cache.range('/pods/')
    expect(computed()).toBe(0)
    expect(entry?.attributes).toEqual({ indexedFields: { node: 'n1' }, labels: {}, data: { length: 7 } })
    expect(page.entries[0]?.attributes).toBe(entry?.attributes)
    expect((await cache.get('/pods/a', { exactly: 1 }))?.attributes).toBe(entry?.attributes)
    expect(computed()).toBe(1)
    await cache.update('/pods/a', bytes('n2'), 1)
    expect((await cache.get('/pods/a'))?.attributes.indexedFields).toEqual({ node: 'n2' })
    expect((await cache.get('/pods/a', { exactly: 1 }))?.attributes.indexedFields).toEqual({ node: 'n1' })
    expect(computed()).toBe(2)
  })

  test('sends all watchers the same event, from one watch of the store', async () => {
    const { store, cache, computed } = open()
    const first = recordWatch(cache, '/pods/', 0)
    const second = recordWatch(cache, '/pods/a', 0)
    await Promise.all([synced(first), synced(second)])
    expect(store.watches).toBe(1)
    await cache.create('/pods/a', bytes('n1'))
    await cache.update('/pods/a', bytes('n2'), 1)
    await cache.delete('/pods/a', 2)
    await Promise.all([first.count(3), second.count(3)])
    const events = first.events as readonly CachedEvent<unknown>[]
    expect(events).toHaveLength(3)
    events.forEach((event, i) => expect(second.events[i]).toBe(event))
    const indexedFields = events.map(event => [
      event.previous?.attributes.indexedFields.node,
      event.entry?.attributes.indexedFields.node,
    ])
    expect(indexedFields).toEqual([
      [undefined, 'n1'],
      ['n1', 'n2'],
      ['n2', undefined],
    ])
    expect(computed()).toBe(2)
    expect(store.watches).toBe(1)
  })

  test('sends a watcher of a field value the events of entries that get, have or lose it', async () => {
    const { cache, computed } = open()
    const watch = (prefix: string, value: string) => {
      const seen: string[] = []
      const sink = {
        event: (event: CachedEvent<unknown>) => void seen.push(`${event.key} @${event.revision}`),
        end() {},
      }
      const inner = cache.watch(prefix, 0, sink, { source: 'indexedFields', name: 'node', values: [value] })
      return { seen, inner }
    }
    const n1 = watch('/pods/', 'n1')
    const n2 = watch('/pods/', 'n2')
    const n1OfB = watch('/pods/b/', 'n1')
    const all = recordWatch(cache, '/pods/', 0)
    await cache.create('/pods/a/x', bytes('n1'))
    await cache.create('/pods/b/y', bytes('n2'))
    await cache.update('/pods/a/x', bytes('n2'), 1)
    await cache.update('/pods/b/y', bytes('n1'), 2)
    await cache.delete('/pods/a/x', 3)
    await cache.create('/pods/a/z', bytes('n3'))
    await all.count(6)
    await synced(all, 6)
    expect(n1.seen).toEqual(['/pods/a/x @1', '/pods/a/x @3', '/pods/b/y @4'])
    expect(n2.seen).toEqual(['/pods/b/y @2', '/pods/a/x @3', '/pods/b/y @4', '/pods/a/x @5'])
    expect(n1OfB.seen).toEqual(['/pods/b/y @4'])

    for (const { inner } of [n1, n2, n1OfB]) inner.close()
    const before = computed()
    await cache.create('/pods/a/x', bytes('n1'))
    await all.count(7)
    expect(computed()).toBe(before) // no field is watched any more
    expect(n1.seen).toHaveLength(3)
  })

  test('delivers a value whose attributes cannot be computed', async () => {
    const store = createGatedStore({ embedded: kind === 'embedded' })
    const cache = createWatchCache(store, '/pods/', {
      getAttributes() {
        throw new Error('not a pod')
      },
    })
    const all = recordWatch(cache, '/pods/', 0)
    cache.watch('/pods/', 0, { event() {}, end() {} }, { source: 'indexedFields', name: 'node', values: ['n1'] })
    await synced(all)
    await cache.create('/pods/a', bytes('?'))
    await cache.create('/pods/b', bytes('?'))
    await all.count(2)
    const entry = await cache.get('/pods/a')
    expect(() => entry?.attributes).toThrow('not a pod')
  })

  test('without getAttributes has no attributes', async () => {
    const cache = createWatchCache(createGatedStore({ embedded: kind === 'embedded' }), '/pods/')
    await cache.create('/pods/a', bytes('n1'))
    expect((await cache.get('/pods/a'))?.attributes).toEqual({ indexedFields: {}, labels: {}, data: undefined })
  })

  test('closing it ends its watchers and its own watch, but not the store', async () => {
    const { store, cache } = open()
    await store.create('/pods/a', bytes('n1'))
    const live = recordWatch(cache, '/pods/', 1)
    await synced(live)
    const starting = recordWatch(cache, '/pods/', 0)
    await cache.close()
    expect(live.ended?.code).toBe('closed')
    expect(starting.ended?.code).toBe('closed')
    expect(store.watches).toBe(0)
    await turns(3)
    expect(store.watches).toBe(0)
    expect(starting.events).toEqual([])
    expect((await store.get('/pods/a'))?.revision).toBe(1)
    await expect(cache.get('/pods/a')).rejects.toMatchObject({ code: 'closed' })
  })

  test('after retire() watches end, new ones are refused, and reads and writes still work', async () => {
    const { store, cache } = open()
    await store.create('/pods/a', bytes('n1'))
    const live = recordWatch(cache, '/pods/', 1)
    await synced(live)
    cache.retire()
    expect(live.ended?.code).toBe('closed')
    expect(() => recordWatch(cache, '/pods/', 1)).toThrow(expect.objectContaining({ code: 'closed' }))
    expect((await cache.get('/pods/a'))?.attributes.indexedFields).toEqual({ node: 'n1' })
    expect(await cache.create('/pods/b', bytes('n2'))).toEqual({ done: true, revision: 2 })
    expect((await cache.range('/pods/')).entries.map(({ key }) => key)).toEqual(['/pods/a', '/pods/b'])
    expect(store.watches).toBe(0)
  })

  test('closing it during start leaves no watch open', async () => {
    const { store, cache } = open()
    const seen = recordWatch(cache, '/pods/', 0)
    await cache.close()
    await turns(5)
    expect(seen.ended?.code).toBe('closed')
    expect(store.watches).toBe(0)
  })

  test('ends its watchers with `closed` when the store closes', async () => {
    const { store, cache } = open()
    const seen = recordWatch(cache, '/pods/', 0)
    await synced(seen)
    await store.close()
    expect((await seen.end()).code).toBe('closed')
  })
})

const bytes = (text: string): Buffer => Buffer.from(text)

/** Waits until a watch has reported progress. */
async function synced(seen: WatchRecorder, revision = 0): Promise<void> {
  seen.watch.requestProgress()
  await seen.progressTo(revision)
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(resolve => setImmediate(resolve))
}
