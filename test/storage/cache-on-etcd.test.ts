// The watch cache on a real etcd: the behavioural suite, and tests with other writers.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createWatchCache, type WatchCache } from '../../src/storage/cache/watch-cache.js'
import { openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import type { Revision, Store } from '../../src/storage/store.js'
import { describeStore } from '../../src/storage/store.suite.js'
import { recordWatch } from '../../src/storage/watch-recorder.suite.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'

/** etcd accepts requests of 1.5 MiB by default. */
const MAX_VALUE_BYTES = 1024 * 1024

describe.skipIf(etcdMissing())('on etcd', () => {
  let etcd: Etcd

  beforeAll(async () => {
    etcd = await startEtcd({ args: ['--experimental-watch-progress-notify-interval=200ms'] })
  })
  afterAll(() => etcd?.stop())

  // The store decides whether requested progress is reliable. On an etcd that answers too early, a cache that relies on
  // it would lose events.
  const open = (prefix: string) => openEtcdStore({ endpoints: etcd.endpoints, prefix, historyMs: 0 })

  describeStore('the watch cache', async () => {
    const store = await open(`/test/${randomUUID()}`)
    const cache = createWatchCache(store, '/', { pageSize: 7 })
    return { store: cache, close: () => store.close(), maxValueBytes: MAX_VALUE_BYTES }
  })

  describe('the watch cache', () => {
    let store: Store
    /** Another writer of the same data. */
    let other: Store
    let prefix: string
    let cache: WatchCache<undefined>

    beforeEach(async () => {
      prefix = `/test/${randomUUID()}`
      store = await open(prefix)
      other = await open(prefix)
      cache = createWatchCache(store, '/pods/')
    })
    afterEach(async () => {
      await cache.close()
      await Promise.all([store.close(), other.close()])
    })

    test('reads the latest writes of others, and pages and gets agree', async () => {
      const revisions = new Map<string, Revision>()
      for (let i = 0; i < 60; i++) {
        const key = `/pods/${i % 12}`
        const had = revisions.get(key)
        const value = bytes(`${i}`)
        const written = done(had ? await other.update(key, value, had) : await other.create(key, value))
        revisions.set(key, written)
        if (i % 3 === 0) done(await other.create(`/nodes/${i}`, bytes('')))
        const [entry, page] = await Promise.all([cache.get(key), cache.range('/pods/', { limit: 5 })])
        expect(entry?.revision).toBe(written)
        expect(page.revision).toBeGreaterThanOrEqual(written)
        expect(page.remaining).toBe(Math.max(0, revisions.size - 5))
      }
    })

    test('many concurrent readers and writers: every read has all acknowledged writes', async () => {
      const writer = async (name: number) => {
        let revision = done(await other.create(`/pods/${name}`, bytes('0')))
        for (let i = 1; i < 25; i++) {
          revision = done(await other.update(`/pods/${name}`, bytes(`${i}`), revision))
          const entry = await cache.get(`/pods/${name}`)
          expect(entry?.revision).toBe(revision)
        }
      }
      await Promise.all(Array.from({ length: 20 }, (_, name) => writer(name)))
    })

    test('sends watchers that start anywhere in history exactly the later events', async () => {
      const written: Revision[] = []
      for (let i = 0; i < 30; i++) written.push(done(await other.create(`/pods/${i}`, bytes(''))))
      const watches = Array.from({ length: 90 }, (_, i) => recordWatch(cache, '/pods/', written[i % 30]!))
      for (let i = 30; i < 60; i++) written.push(done(await other.create(`/pods/${i}`, bytes(''))))
      for (const [i, seen] of watches.entries()) {
        const expected = written.slice((i % 30) + 1)
        expect((await seen.count(expected.length)).map(event => event.revision)).toEqual(expected)
      }
    })

    test('sends all deletions of one revision, also to watchers that pause', async () => {
      for (let i = 0; i < 5; i++) await other.create(`/pods/${i}`, bytes(''))
      const quick = recordWatch(cache, '/pods/', await other.revision())
      const slow = recordWatch(cache, '/pods/', await other.revision())
      slow.pausing = true
      await cache.get('/pods/0')
      await deletePrefix(etcd, `${prefix}/pods/`)
      const events = await quick.count(5)
      expect(new Set(events.map(event => event.revision)).size).toBe(1)
      await other.create('/pods/after', bytes(''))
      await quick.count(6)
      slow.watch.resume()
      expect((await slow.count(6)).map(event => event.key)).toEqual(quick.events.map(event => event.key))
      expect((await cache.range('/pods/')).entries.map(entry => entry.key)).toEqual(['/pods/after'])
    })

    test('is not stale after etcd was paused, and its watchers miss nothing', async () => {
      const start = await other.revision()
      const seen = recordWatch(cache, '/pods/', start)
      const first = done(await other.create('/pods/a', bytes('1')))
      expect((await cache.get('/pods/a'))?.revision).toBe(first)
      await etcd.restart()
      const second = done(await other.update('/pods/a', bytes('2'), first))
      expect((await cache.get('/pods/a'))?.revision).toBe(second)
      expect((await seen.count(2)).map(event => event.revision)).toEqual([first, second])
    })
  })
})

/** Deletes many keys at one revision, as when a lease expires. */
async function deletePrefix(etcd: Etcd, prefix: string): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const body = JSON.stringify({ key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) })
  const response = await fetch(`${etcd.endpoints[0]}/v3/kv/deleterange`, { method: 'POST', body })
  if (!response.ok) throw new Error(`etcd answered ${response.status}: ${await response.text()}`)
}

const bytes = (text: string): Buffer => Buffer.from(text)

function done(result: Awaited<ReturnType<Store['create']>>): Revision {
  if (!result.done) throw new Error('a write was refused')
  return result.revision
}
