import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StorageError } from '../storage-error.js'
import type { Revision, StoreEvent, Watch } from '../store.js'
import { brief, recordWatch } from '../watch-recorder.suite.js'
import type { AttributeTerm, CachedEvent } from './entry-attributes.js'
import { createGatedStore, type GatedStore } from './gated-store.suite.js'
import { createWatchCache, type WatchCache } from './watch-cache.js'

describe.each(['embedded', 'remote'])('a watch on the cache of a store that is %s', kind => {
  const open = (window: { events?: number; bytes?: number } = {}) => {
    const store = createGatedStore({ embedded: kind === 'embedded' })
    const cache = createWatchCache(store, '/pods/', { window, getAttributes: attributesByNode, retryAfter: 0 })
    return { store, cache }
  }

  test('that starts before the window reads the history of the store, then switches to the window', async () => {
    const { store, cache } = open()
    for (let i = 1; i <= 5; i++) await store.create(`/pods/${i}`, bytes('n1'))
    const seen = recordWatch(cache, '/pods/', 2)
    await seen.count(3)
    await turns()
    expect(store).toMatchObject({ watches: 1, calls: { watch: 2 } })
    await store.create('/pods/6', bytes('n1'))
    expect(revisions(await seen.count(4))).toEqual([3, 4, 5, 6])
  })

  test('that starts in the window does not read the store', async () => {
    const { store, cache } = open()
    recordWatch(cache, '/pods/', 0)
    await turns()
    for (let i = 1; i <= 5; i++) await store.create(`/pods/${i}`, bytes('n1'))
    const seen = recordWatch(cache, '/pods/', 2)
    expect(revisions(await seen.count(3))).toEqual([3, 4, 5])
    expect(store.calls.watch).toBe(1)
  })

  test('that starts ahead of the window, at a write elsewhere, waits there', async () => {
    const { store, cache } = open()
    recordWatch(cache, '/pods/', 0)
    await turns()
    await store.create('/pods/1', bytes('n1'))
    store.held = true
    await store.create('/pods/2', bytes('n1'))
    await store.create('/nodes/3', bytes(''))
    const seen = recordWatch(cache, '/pods/', 3)
    await turns()
    store.held = false
    await store.create('/pods/4', bytes('n1'))
    expect(revisions(await seen.count(1))).toEqual([4])
    expect(store.calls.watch).toBe(1)
  })

  test('gets only its field value from the history of the store too', async () => {
    const { store, cache } = open()
    await store.create('/pods/1', bytes('n1'))
    await store.create('/pods/2', bytes('n2'))
    await store.update('/pods/1', bytes('n2'), 1)
    const seen: CachedEvent<undefined>[] = []
    const sink = { event: (event: CachedEvent<undefined>) => void seen.push(event), end() {} }
    cache.watch('/pods/', 0, sink, { source: 'indexedFields', name: 'node', values: ['n1'] })
    await turns()
    expect(brief(seen)).toEqual(['create /pods/1=n1 @1', 'update /pods/1=n2 (was n1 @1) @3'])
    expect(seen[1]?.previous?.attributes.indexedFields).toEqual({ node: 'n1' })
  })

  test('ends with `compacted` when its start is compacted in the store', async () => {
    const { store, cache } = open()
    for (let i = 1; i <= 5; i++) await store.create(`/pods/${i}`, bytes('n1'))
    await store.compact(4)
    const seen = recordWatch(cache, '/pods/', 2)
    expect(await seen.end()).toMatchObject({ code: 'compacted', revision: 4 })
    expect(store.watches).toBe(1)
  })

  test('a thousand that start in the past at once all get every event once, and leave one watch of the store', async () => {
    const { store, cache } = open({ events: 8 })
    for (let i = 1; i <= 20; i++) await store.create(`/pods/${i}`, bytes('n1'))
    const all = Array.from({ length: 1000 }, (_, i) => recordWatch(cache, '/pods/', i % 20))
    for (let i = 21; i <= 40; i++) {
      await store.create(`/pods/${i}`, bytes('n1'))
      if (i % 5 === 0) await turns(1)
    }
    for (const [i, seen] of all.entries()) {
      const expected = Array.from({ length: 40 - (i % 20) }, (_, n) => (i % 20) + 1 + n)
      expect(revisions(await seen.count(expected.length))).toEqual(expected)
    }
    await turns()
    expect(store.watches).toBe(1)
  })

  test('that pauses for too long is dropped when its events leave the window, and only that one', async () => {
    const { store, cache } = open({ events: 8 })
    const slow = recordWatch(cache, '/pods/', 0)
    const elsewhere = recordWatch(cache, '/pods/quiet/', 0)
    const quick = recordWatch(cache, '/pods/', 0)
    await turns()
    slow.pausing = true
    elsewhere.pausing = true
    await store.create('/pods/quiet/1', bytes('n1')) // both take one and pause; the second one has no more events
    for (let i = 2; i <= 9; i++) await store.create(`/pods/${i}`, bytes('n1'))
    expect(slow.ended).toMatchObject({
      code: 'slow-watcher',
      message:
        'the watcher did not keep up: it has events up to revision 1, and those up to 3 are no longer held for it',
    })
    expect(slow.events).toHaveLength(1)
    for (let i = 10; i <= 30; i++) await store.create(`/pods/${i}`, bytes('n1'))
    elsewhere.pausing = false
    elsewhere.watch.resume()
    await store.create('/pods/quiet/2', bytes('n1'))
    expect(revisions(await elsewhere.count(2))).toEqual([1, 31])
    expect(revisions(await quick.count(31))).toHaveLength(31)
  })

  test('is dropped by the bytes of the missed events as well as by their number', async () => {
    const { store, cache } = open({ bytes: 50_000 })
    const slow = recordWatch(cache, '/pods/', 0)
    await turns()
    slow.pausing = true
    for (let i = 1; i <= 4; i++) await store.create(`/pods/${i}`, Buffer.alloc(10_000))
    expect(slow.ended).toBeUndefined()
    for (let i = 5; i <= 7; i++) await store.create(`/pods/${i}`, Buffer.alloc(10_000))
    expect(slow.ended?.code).toBe('slow-watcher')
  })

  test('that never pauses is not dropped when the window discards events that it has not read', async () => {
    const { store, cache } = open({ events: 8 })
    const first = recordWatch(cache, '/pods/', 0)
    await turns()
    for (let i = 1; i <= 8; i++) await store.create(`/pods/${i}`, bytes('n1'))
    const seen = recordWatch(cache, '/pods/', 0) // reads only after all of the following writes
    for (let i = 9; i <= 30; i++) void store.create(`/pods/${i}`, bytes('n1'))
    await Promise.all([first.count(30), seen.count(30)])
    expect(revisions(seen.events)).toEqual(revisions(first.events))
    expect(seen.ended).toBeUndefined()
  })

  test('may pause while it reads the history of the store', async () => {
    const { store, cache } = open({ events: 8 })
    for (let i = 1; i <= 20; i++) await store.create(`/pods/${i}`, bytes('n1'))
    const seen = recordWatch(cache, '/pods/', 0)
    seen.pausing = true
    for (let i = 1; i <= 20; i++) {
      await seen.count(i)
      seen.watch.resume()
    }
    expect(revisions(seen.events)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  })

  test('reports progress while it reads the history of the store, and after', async () => {
    const { store, cache } = open()
    for (let i = 1; i <= 5; i++) await store.create(`/pods/${i}`, bytes('n1'))
    const seen = recordWatch(cache, '/pods/', 0)
    seen.watch.requestProgress()
    await seen.progressTo(5)
    expect(seen.events).toHaveLength(5)
    await store.create('/nodes/6', bytes(''))
    seen.watch.requestProgress()
    await seen.progressTo(6)
  })

  test('closed repeatedly leaves nothing open', async () => {
    const { store, cache } = open()
    for (let i = 1; i <= 5; i++) await store.create(`/pods/${i}`, bytes('n1'))
    for (let i = 0; i < 20; i++) {
      const watch = cache.watch('/pods/', i % 6, { event() {}, end() {} })
      if (i % 2 === 0) await turns(i % 3)
      watch.close()
      watch.close()
    }
    await turns()
    expect(store.watches).toBe(1)
  })

  test('gets exactly the history of its address, in order, unless it paused for too long', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 100, size: 'max' }), async steps => {
        const { store, cache } = open({ events: 5 })
        await play(steps, store, cache)
        await cache.close()
        await store.close()
      }),
      { numRuns: 150 },
    )
  })
})

// ---- any order of writes, starts, pauses, resumptions and delays ----

type Step =
  | { do: 'write'; name: number; node: number }
  | { do: 'watch'; target: number; past: number; term: number }
  | { do: 'pause' | 'resume' | 'progress' | 'close'; which: number }
  | { do: 'hold'; now: boolean }
  | { do: 'loseProgress'; now: boolean }
  | { do: 'break' }
  | { do: 'wait'; turns: number }

const KEYS = ['/pods/a/1', '/pods/a/2', '/pods/b/1', '/nodes/1']
const TARGETS = ['/pods/', '/pods/a/', '/pods/b/', '/pods/a/1']

const which = fc.nat(5)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant('write' as const), name: fc.nat(KEYS.length - 1), node: fc.nat(3) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('watch' as const),
      target: fc.nat(TARGETS.length - 1),
      past: fc.nat(20),
      term: fc.nat(4),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume', 'progress'), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('hold' as const, 'loseProgress'), now: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'break' as const }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), turns: fc.nat(3) }) },
)

interface Client {
  readonly wants: (event: StoreEvent) => boolean
  readonly seen: CachedEvent<undefined>[]
  readonly watch: Watch
  pausing: boolean
  hasPaused: boolean
  closed: boolean
  ended: StorageError | undefined
}

async function play(steps: Step[], store: GatedStore, cache: WatchCache<undefined>): Promise<void> {
  const history: StoreEvent[] = []
  const clients: Client[] = []
  const current = new Map<string, StoreEvent>()
  let broken = false
  const expected = (client: Client, to: Revision) =>
    brief(history.filter(event => event.revision <= to && client.wants(event)))

  async function write(key: string, node: number): Promise<void> {
    const before = current.get(key)
    const value = node === 0 ? undefined : bytes(`n${node}`)
    if (!before && !value) return
    const result = value
      ? await (before ? store.update(key, value, before.revision) : store.create(key, value))
      : await store.delete(key, before!.revision)
    if (!result.done) throw new Error('a write was refused')
    const previous = before && { key, value: before.value!, revision: before.revision }
    const event = { revision: result.revision, key, value, previous }
    history.push(event)
    if (value) current.set(key, event)
    else current.delete(key)
  }

  function watch(target: string, after: Revision, term: AttributeTerm | undefined): void {
    const hasTerm = (value: Buffer | undefined) =>
      value !== undefined && Boolean(term?.values?.includes(value.toString()))
    const client: Client = {
      wants: ({ revision, key, value, previous }) =>
        revision > after &&
        (key === target || (target.endsWith('/') && key.startsWith(target))) &&
        (!term || hasTerm(value) || hasTerm(previous?.value)),
      seen: [],
      pausing: false,
      hasPaused: false,
      closed: false,
      ended: undefined,
      watch: cache.watch(
        target,
        after,
        {
          event(event) {
            if (client.closed || client.ended) throw new Error('an event after the end')
            client.seen.push(event)
            client.hasPaused ||= client.pausing
            return !client.pausing
          },
          progress(revision) {
            expect(brief(client.seen)).toEqual(expected(client, revision))
          },
          end(error) {
            client.ended = error
          },
        },
        term,
      ),
    }
    clients.push(client)
  }

  for (const now of steps) {
    if (now.do === 'write') await write(KEYS[now.name]!, now.node)
    else if (now.do === 'watch') {
      const target = TARGETS[now.target]!
      const term = now.term > 0 && target.endsWith('/') ? TERMS[now.term] : undefined
      watch(target, Math.max(0, history.length - now.past), term)
    } else if (now.do === 'wait') await turns(now.turns)
    else if (now.do === 'hold') store.held = now.now && !store.embedded
    else if (now.do === 'loseProgress') store.progressLost = now.now && !store.embedded
    else if (now.do === 'break') {
      broken = true
      store.breakOldestWatch({ code: 'unavailable', message: 'broken' } as StorageError)
    } else {
      const client = clients[now.which]
      if (!client) continue
      if (now.do === 'progress') client.watch.requestProgress()
      else if (now.do === 'pause') client.pausing = true
      else if (now.do === 'resume') {
        client.pausing = false
        client.watch.resume()
      } else {
        client.closed = true
        client.watch.close()
      }
    }
  }

  store.held = false
  store.progressLost = false
  for (const client of clients) {
    client.pausing = false
    client.watch.resume()
  }
  for (const client of clients) {
    const all = expected(client, history.length)
    for (let i = 0; i < 50 && client.seen.length < all.length && !client.ended; i++) await turns(1)
    if (client.ended || client.closed) {
      expect(brief(client.seen)).toEqual(all.slice(0, client.seen.length))
    } else expect(brief(client.seen)).toEqual(all)
    if (client.ended?.code === 'slow-watcher') expect(client.hasPaused).toBe(true)
    else if (client.ended)
      expect([broken, client.ended.code]).toEqual([true, expect.stringMatching(/compacted|unavailable/)])
  }
}

const nodes = (...values: string[]): AttributeTerm => ({ source: 'indexedFields', name: 'node', values })
const TERMS = [undefined, nodes('n1'), nodes('n2'), nodes('n1', 'n2'), nodes('n2', 'n3')]

const attributesByNode = (_key: string, value: Buffer) => ({
  indexedFields: { node: value.toString() },
  labels: {},
  data: undefined,
})

const bytes = (text: string): Buffer => Buffer.from(text)

const revisions = (events: readonly StoreEvent[]): Revision[] => events.map(event => event.revision)

async function turns(count = 8): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(resolve => setImmediate(resolve))
}
