// The tests that every store must pass. Each implementation, and the watch cache on top of each, runs them all.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MAX_KEY_BYTES, MAX_VALUE_BYTES } from './keys.js'
import type { StorageErrorCode } from './storage-error.js'
import type { Page, Revision, Store } from './store.js'
import { brief, recordWatch } from './watch-recorder.suite.js'

export interface OpenStore {
  readonly store: Store
  /** Cleans up after the store itself was closed. */
  close?(): Promise<void>
  /** The store's own limit, if it is smaller. */
  readonly maxValueBytes?: number
  /** Values may have to be decrypted by others, so that none is read synchronously. */
  readonly readsTakeTime?: boolean
}

/** `open` gives a store without keys; its revision may already be past 0. */
export function describeStore(title: string, open: () => Promise<OpenStore>): void {
  describe(title, () => {
    let opened: OpenStore
    let store: Store

    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })

    afterEach(async () => {
      await store.close()
      await opened.close?.()
    })

    const create = async (key: string, value = 'x') => done(await store.create(key, bytes(value)))
    const update = async (key: string, value: string, expected: Revision) =>
      done(await store.update(key, bytes(value), expected))
    const remove = async (key: string, expected: Revision) => done(await store.delete(key, expected))
    const list = async (prefix: string, options = {}) => summary(await store.range(prefix, options))

    describe('a write', () => {
      test('takes the next revision, and a get returns it', async () => {
        const before = await store.revision()
        const revision = await create('/things/a', 'one')
        expect(revision).toBe(before + 1)
        expect(await store.get('/things/a')).toMatchObject({ key: '/things/a', value: bytes('one'), revision })
        expect(await store.revision()).toBe(revision)
      })

      test('is visible at once where reads are local', async () => {
        expect(store.getNow !== undefined).toBe(store.embedded && !opened.readsTakeTime)
        const revision = await create('/things/a', 'one')
        expect(store.revisionNow !== undefined).toBe(store.embedded)
        if (!store.getNow) return
        expect(store.revisionNow?.()).toBe(revision)
        expect(store.getNow('/things/a')).toMatchObject({ key: '/things/a', value: bytes('one'), revision })
        expect(store.getNow('/things/b')).toBeUndefined()
        expect(() => store.getNow?.('no key')).toThrow(expect.objectContaining({ code: 'invalid-key' }))
      })

      test('is the last change of its prefixes, where reads are local', async () => {
        if (!store.lastChange) return
        await create('/things/b/x')
        const before = store.lastChange('/things/a/')
        expect(before).toBeLessThanOrEqual(await store.revision())
        await create('/things/b/y')
        expect(store.lastChange('/things/a/')).toBe(before)
        const revision = await create('/things/a/x')
        expect(store.lastChange('/things/a/')).toBe(revision)
        expect(store.lastChange('/things/')).toBe(revision)
        const deleted = await remove('/things/a/x', revision)
        expect(store.lastChange('/things/a/')).toBe(deleted)
      })

      test('that creates is refused when the key exists, with the current entry', async () => {
        const revision = await create('/things/a', 'one')
        const refused = await store.create('/things/a', bytes('two'))
        expect(refused).toMatchObject({ done: false, current: { key: '/things/a', value: bytes('one'), revision } })
        expect(await store.revision()).toBe(revision)
      })

      test('that updates needs the current revision', async () => {
        const first = await create('/things/a', 'one')
        const second = await update('/things/a', 'two', first)
        const refused = await store.update('/things/a', bytes('three'), first)
        expect(refused).toMatchObject({ done: false, current: { value: bytes('two'), revision: second } })
        expect(await store.get('/things/a')).toMatchObject({ value: bytes('two'), revision: second })
      })

      test('that updates or deletes a missing key is refused', async () => {
        const revision = await create('/things/b')
        expect(await store.update('/things/a', bytes('x'), revision)).toEqual({ done: false, current: undefined })
        expect(await store.delete('/things/a', revision)).toEqual({ done: false, current: undefined })
      })

      test('that deletes needs the current revision, and takes a revision', async () => {
        const first = await create('/things/a', 'one')
        const second = await update('/things/a', 'two', first)
        expect(await store.delete('/things/a', first)).toMatchObject({ done: false, current: { revision: second } })
        expect(await remove('/things/a', second)).toBe(second + 1)
        expect(await store.get('/things/a')).toBeUndefined()
      })

      test('may create a deleted key again', async () => {
        const first = await create('/things/a', 'one')
        await remove('/things/a', first)
        const again = await create('/things/a', 'two')
        expect(await store.get('/things/a')).toMatchObject({ value: bytes('two'), revision: again })
        expect(await store.update('/things/a', bytes('x'), first)).toMatchObject({ done: false })
      })

      test('of any bytes, and of none, is read back unchanged', async () => {
        const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
        await store.create('/things/all', all)
        await store.create('/things/none', Buffer.alloc(0))
        expect((await store.get('/things/all'))?.value.equals(all)).toBe(true)
        expect((await store.get('/things/none'))?.value.length).toBe(0)
        expect((await list('/things/')).keys).toEqual(['/things/all', '/things/none'])
      })

      test('keeps its bytes when the caller changes the buffer afterwards', async () => {
        const value = bytes('before')
        await store.create('/things/a', value)
        value.fill('!')
        expect((await store.get('/things/a'))?.value.toString()).toBe('before')
      })

      test('is in order with many others at once, each with a revision of its own', async () => {
        const before = await store.revision()
        const revisions = await Promise.all(Array.from({ length: 200 }, (_, i) => create(`/things/${i}`, `${i}`)))
        expect(revisions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => before + 1 + i))
        expect((await list('/things/')).keys).toHaveLength(200)
      })

      test('with a guard is done only while the other entry is at that revision', async () => {
        const changed = { code: 'guard-changed' }
        const first = await create('/guards/a', 'one')
        const thing = done(await store.create('/things/a', bytes('x'), { key: '/guards/a', revision: first }))
        const second = await update('/guards/a', 'two', first)
        const old = { key: '/guards/a', revision: first }
        await expect(store.create('/things/b', bytes('x'), old)).rejects.toMatchObject(changed)
        await expect(store.update('/things/a', bytes('y'), thing, old)).rejects.toMatchObject(changed)
        // The guard is named, not the entry that exists: the caller must begin again in any case.
        await expect(store.create('/things/a', bytes('x'), old)).rejects.toMatchObject(changed)
        const current = { key: '/guards/a', revision: second }
        expect(await store.create('/things/a', bytes('x'), current)).toMatchObject({ done: false })
        done(await store.update('/things/a', bytes('y'), thing, current))
        await remove('/guards/a', second)
        await expect(store.create('/things/b', bytes('x'), current)).rejects.toMatchObject(changed)
        done(await store.create('/things/b', bytes('x'), { key: '/guards/a', revision: 0 }))
        expect((await list('/things/')).keys).toEqual(['/things/a', '/things/b'])
      })

      test('with two guards is done only while both entries are at their revisions', async () => {
        const first = { key: '/guards/a', revision: await create('/guards/a', 'one') }
        const second = { key: '/guards/b', revision: await create('/guards/b', 'one') }
        done(await store.create('/things/a', bytes('x'), { ...first, and: second }))
        await update('/guards/b', 'two', second.revision)
        for (const guard of [
          { ...first, and: second },
          { ...second, and: first },
        ]) {
          await expect(store.create('/things/b', bytes('x'), guard)).rejects.toMatchObject({
            code: 'guard-changed',
            message: expect.stringContaining('/guards/b'),
          })
        }
        expect(await store.get('/things/b')).toBeUndefined()
      })

      test('with a guard is refused when it comes after the change of the guard in one group', async () => {
        // Stores that are reached over a network may carry the writes out in another order.
        if (!store.embedded) return
        const guard = { key: '/guards/a', revision: await create('/guards/a', 'one') }
        const before = store.create('/things/before', bytes('x'), guard)
        const change = store.update('/guards/a', bytes('two'), guard.revision)
        const after = store.create('/things/after', bytes('x'), guard)
        const outcomes = await Promise.allSettled([before, change, after])
        expect(outcomes).toMatchObject([
          { value: { done: true } },
          { value: { done: true } },
          { reason: { code: 'guard-changed' } },
        ])
      })

      test('is the only one that succeeds when many race for the same key', async () => {
        const first = await create('/things/a', 'start')
        const racers = await Promise.all(
          Array.from({ length: 50 }, (_, i) => store.update('/things/a', bytes(`${i}`), first)),
        )
        const winners = racers.flatMap((result, i) => (result.done ? [{ i, revision: result.revision }] : []))
        expect(winners).toHaveLength(1)
        const { i, revision } = winners[0]!
        for (const result of racers) {
          if (!result.done) expect(result.current).toMatchObject({ value: bytes(`${i}`), revision })
        }
      })

      test('may follow another on the same key without waiting for its result', async () => {
        const base = await store.revision()
        const racers = await Promise.all([
          store.create('/things/a', bytes('1')),
          store.update('/things/a', bytes('2'), base + 1),
          store.delete('/things/a', base + 2),
          store.create('/things/a', bytes('3')),
        ])
        // Which of them succeed depends on the store; its results and its state must agree.
        const entry = await store.get('/things/a')
        const last = Math.max(...racers.map(result => (result.done ? result.revision : 0)))
        if (entry) expect(entry.revision).toBe(last)
        expect(await store.revision()).toBe(base + racers.filter(result => result.done).length)
      })
    })

    describe('a range', () => {
      test('has the keys of its prefix in order, at one revision', async () => {
        for (const key of ['/things/b', '/things/a', '/things/a/below', '/thing/x', '/things-too/x', '/zoo']) {
          await create(key)
        }
        expect((await list('/things/')).keys).toEqual(['/things/a', '/things/a/below', '/things/b'])
        expect((await list('/')).keys).toHaveLength(6)
        expect((await list('/none/')).keys).toEqual([])
        expect((await store.range('/things/')).revision).toBe(await store.revision())
      })

      test('sorts by the bytes of the keys', async () => {
        const names = ['a', 'a-b', 'a.b', 'a0', 'A', '~', 'é', 'z', '\u{1f600}', '\uffee', 'ab', 'a b', '\u4e2d']
        for (const name of names) await create(`/things/${name}`)
        const sorted = names.map(name => `/things/${name}`).toSorted((a, b) => Buffer.compare(bytes(a), bytes(b)))
        expect((await list('/things/')).keys).toEqual(sorted)
      })

      test('comes in pages with a count of the remaining entries', async () => {
        for (let i = 0; i < 10; i++) await create(`/things/${i}`, `${i}`)
        await create('/zoo/x')
        const first = await list('/things/', { limit: 4 })
        expect(first).toMatchObject({ keys: ['/things/0', '/things/1', '/things/2', '/things/3'], remaining: 6 })
        const second = await list('/things/', { limit: 4, startAfter: '/things/3' })
        expect(second).toMatchObject({ keys: ['/things/4', '/things/5', '/things/6', '/things/7'], remaining: 2 })
        const third = await list('/things/', { limit: 4, startAfter: '/things/7' })
        expect(third).toMatchObject({ keys: ['/things/8', '/things/9'], remaining: 0 })
        expect(await list('/things/', { limit: 10 })).toMatchObject({ remaining: 0 })
        // The entry that reaches the limit is the last one; a page is never empty.
        expect((await store.range('/things/', { maxBytes: 3 })).entries).toHaveLength(3)
        expect(await store.range('/things/', { maxBytes: 1, limit: 5 })).toMatchObject({ remaining: 9 })
        expect(await list('/things/', { startAfter: '/things/9' })).toMatchObject({ keys: [], remaining: 0 })
      })

      test('tells only whether there are more entries where it need not count them', async () => {
        for (let i = 0; i < 10; i++) await create(`/things/${i}`, `${i}`)
        const page = await list('/things/', { limit: 4, startAfter: '/things/1', isUncounted: true })
        expect(page.keys).toEqual(['/things/2', '/things/3', '/things/4', '/things/5'])
        expect(page.remaining).toBeGreaterThan(0)
        const last = await list('/things/', { limit: 4, startAfter: '/things/5', isUncounted: true })
        expect(last).toMatchObject({ keys: ['/things/6', '/things/7', '/things/8', '/things/9'], remaining: 0 })
        // The next page is counted as before.
        expect(await list('/things/', { limit: 4, startAfter: '/things/1' })).toMatchObject({ remaining: 4 })
      })

      test('starts after a key that is not there', async () => {
        for (const name of ['a', 'c', 'e']) await create(`/things/${name}`)
        expect((await list('/things/', { startAfter: '/things/b' })).keys).toEqual(['/things/c', '/things/e'])
        expect((await list('/things/', { startAfter: '/things/b', limit: 1 })).remaining).toBe(1)
      })

      test('at an earlier revision is unchanged by later writes, page by page', async () => {
        const revisions: Revision[] = []
        for (let i = 0; i < 8; i++) revisions.push(await create(`/things/${i}`, `old${i}`))
        const at = { exactly: await store.revision() }
        const first = await list('/things/', { at, limit: 3 })
        expect(first).toEqual({
          keys: ['/things/0', '/things/1', '/things/2'],
          values: ['old0', 'old1', 'old2'],
          remaining: 5,
        })

        await update('/things/4', 'new4', revisions[4]!)
        await remove('/things/3', revisions[3]!)
        await remove('/things/0', revisions[0]!)
        await create('/things/3', 'again3')
        await create('/things/45', 'new45')
        await create('/things/9', 'new9')

        const second = await list('/things/', { at, limit: 3, startAfter: '/things/2' })
        expect(second).toEqual({
          keys: ['/things/3', '/things/4', '/things/5'],
          values: ['old3', 'old4', 'old5'],
          remaining: 2,
        })
        const third = await list('/things/', { at, limit: 3, startAfter: '/things/5' })
        expect(third).toEqual({ keys: ['/things/6', '/things/7'], values: ['old6', 'old7'], remaining: 0 })
        expect((await store.range('/things/', { at })).revision).toBe(at.exactly)
        expect((await list('/things/')).values).toEqual([
          'old1',
          'old2',
          'again3',
          'new4',
          'new45',
          'old5',
          'old6',
          'old7',
          'new9',
        ])
      })

      test('counts correctly while keys are created and deleted between pages', async () => {
        const revisions: Revision[] = []
        for (let i = 10; i < 30; i++) revisions.push(await create(`/things/${i}`))
        expect((await list('/things/', { limit: 5 })).remaining).toBe(15)
        await remove('/things/20', revisions[10]!)
        await create('/things/305')
        await create('/things/101')
        expect(await list('/things/', { limit: 5, startAfter: '/things/14' })).toMatchObject({ remaining: 10 })
        expect(await list('/things/', { limit: 5 })).toMatchObject({ remaining: 16 })
      })
    })

    describe('a read', () => {
      test('at an earlier revision returns the value of that time, or none', async () => {
        const before = await store.revision()
        const first = await create('/things/a', 'one')
        const second = await update('/things/a', 'two', first)
        const third = await remove('/things/a', second)
        const fourth = await create('/things/a', 'four')
        const at = async (exactly: Revision) => (await store.get('/things/a', { exactly }))?.value.toString()
        if (before > 0) expect(await at(before)).toBeUndefined()
        expect(await at(first)).toBe('one')
        expect(await at(second)).toBe('two')
        expect(await at(third)).toBeUndefined()
        expect(await at(fourth)).toBe('four')
        expect((await store.get('/things/a', { exactly: first }))?.revision).toBe(first)
      })

      test('at any revision, or not older than the latest, returns the current value', async () => {
        const revision = await create('/things/a', 'one')
        expect((await store.get('/things/a', { notOlderThan: revision }))?.revision).toBe(revision)
        expect((await store.get('/things/a', 'any'))?.revision).toBe(revision)
        expect((await list('/things/', { at: { notOlderThan: revision } })).keys).toEqual(['/things/a'])
        expect((await list('/things/', { at: 'any' })).keys).toEqual(['/things/a'])
      })

      test('of a revision that has not happened fails', async () => {
        const future = (await create('/things/a')) + 1000
        await fails('future-revision', store.get('/things/a', { exactly: future }))
        await fails('future-revision', store.get('/things/a', { notOlderThan: future }))
        await fails('future-revision', store.range('/things/', { at: { exactly: future } }))
        await fails('future-revision', store.range('/things/', { at: { notOlderThan: future } }))
      })
    })

    describe('a watch', () => {
      test('gets creates, updates and deletes with the previous entries', async () => {
        const seen = recordWatch(store, '/things/', await store.revision())
        const a = await create('/things/a', 'one')
        const b = await update('/things/a', 'two', a)
        const c = await remove('/things/a', b)
        const d = await create('/things/a', 'three')
        expect(brief(await seen.count(4))).toEqual([
          `create /things/a=one @${a}`,
          `update /things/a=two (was one @${a}) @${b}`,
          `delete /things/a (was two @${b}) @${c}`,
          `create /things/a=three @${d}`,
        ])
      })

      test('of a prefix gets its keys only, of a key that key only', async () => {
        const start = await store.revision()
        const prefix = recordWatch(store, '/things/', start)
        const key = recordWatch(store, '/things/a', start)
        const all = recordWatch(store, '/', start)
        for (const name of ['/things/ab', '/things/a', '/thing/a', '/things/a/below', '/other', '/things/z']) {
          await create(name)
        }
        const keys = (events: readonly { key: string }[]) => events.map(event => event.key)
        expect(keys(await prefix.count(4))).toEqual(['/things/ab', '/things/a', '/things/a/below', '/things/z'])
        expect(keys(await all.count(6))).toHaveLength(6)
        key.watch.requestProgress()
        expect(keys(await key.count(1))).toEqual(['/things/a'])
      })

      test('from an earlier revision gets all later events, then new ones', async () => {
        const start = await create('/things/0', 'v')
        const expected: string[] = []
        let last = start
        for (let i = 1; i <= 5; i++) {
          const next = await update('/things/0', `v${i}`, last)
          expected.push(`update /things/0=v${i} (was v${i - 1 || ''} @${last}) @${next}`)
          last = next
        }
        const seen = recordWatch(store, '/things/', start)
        await seen.count(5)
        const next = await remove('/things/0', last)
        expected.push(`delete /things/0 (was v5 @${last}) @${next}`)
        expect(brief(await seen.count(6))).toEqual(expected)
      })

      test('from any revision of a long history gets exactly the rest, during further writes', async () => {
        const start = await store.revision()
        const revisions: Revision[] = []
        for (let i = 0; i < 40; i++) {
          const burst = Array.from({ length: 30 }, (_, j) => create(`/things/${i}-${j}`))
          revisions.push(...(await Promise.all(burst)))
        }
        const midway = revisions.toSorted((a, b) => a - b)[17]!
        const early = recordWatch(store, '/things/', start)
        const later = recordWatch(store, '/things/', midway)
        for (let i = 0; i < 30; i++) revisions.push(await create(`/things/late-${i}`))
        const sorted = revisions.toSorted((a, b) => a - b)
        expect((await early.count(sorted.length)).map(event => event.revision)).toEqual(sorted)
        expect((await later.count(sorted.length - 18)).map(event => event.revision)).toEqual(sorted.slice(18))
      })

      test('resumed from the last revision seen misses and repeats nothing', async () => {
        const start = await store.revision()
        const seen: Revision[] = []
        const written: Revision[] = []
        for (let round = 0; round < 5; round++) {
          for (let i = 0; i < 3; i++) written.push(await create(`/things/${round}-${i}`))
          const leg = recordWatch(store, '/things/', seen.at(-1) ?? start)
          for (let i = 0; i < 3; i++) written.push(await create(`/things/${round}-${i}-more`))
          seen.push(...(await leg.count(4)).map(event => event.revision))
          leg.watch.close()
        }
        const rest = recordWatch(store, '/things/', seen.at(-1)!)
        if (seen.length < written.length) await rest.count(written.length - seen.length)
        expect([...seen, ...rest.events.map(event => event.revision)]).toEqual(written)
      })

      test('pauses when its sink returns false, and resumes where it stopped', async () => {
        const seen = recordWatch(store, '/things/', await store.revision())
        seen.pausing = true
        const revisions: Revision[] = []
        for (let i = 0; i < 6; i++) revisions.push(await create(`/things/${i}`))
        await seen.count(1)
        seen.watch.resume()
        await seen.count(2)
        revisions.push(await create('/things/more'))
        expect(seen.events).toHaveLength(2)
        seen.pausing = false
        seen.watch.resume()
        expect((await seen.count(7)).map(event => event.revision)).toEqual(revisions)
      })

      test('reports progress after the events that it covers', async () => {
        const seen = recordWatch(store, '/things/', await store.revision())
        await create('/things/a')
        const last = await create('/others/b')
        seen.watch.requestProgress()
        await seen.progressTo(last)
        expect(seen.events).toHaveLength(1)
      })

      test('that is closed gets no more events', async () => {
        const start = await store.revision()
        const gone = recordWatch(store, '/things/', start)
        const stays = recordWatch(store, '/things/', start)
        await create('/things/a')
        await Promise.all([gone.count(1), stays.count(1)])
        gone.watch.close()
        await create('/things/b')
        await stays.count(2)
        expect(gone.events).toHaveLength(1)
        expect(gone.ended).toBeUndefined()
      })

      test('may be closed from within its own sink', async () => {
        let events = 0
        const start = await store.revision()
        const other = recordWatch(store, '/things/', start)
        const first = new Promise<void>(resolve => {
          const watch = store.watch('/things/', start, {
            event() {
              events++
              watch.close()
              resolve()
            },
            end: () => {},
          })
        })
        await create('/things/a')
        await first
        await create('/things/b')
        await other.count(2)
        expect(events).toBe(1)
      })

      test('may write to its own target from within its sink', async () => {
        const start = await store.revision()
        const writes: Promise<Revision>[] = []
        const writer = store.watch('/things/', start, {
          event({ key }) {
            if (key === '/things/a') writes.push(create('/things/b'))
          },
          end: () => {},
        })
        const other = recordWatch(store, '/things/', start)
        const first = await create('/things/a')
        await other.count(2)
        const late = recordWatch(store, '/things/', start)
        const keys = ['/things/a', '/things/b']
        expect((await late.count(2)).map(event => event.key)).toEqual(keys)
        expect(other.events.map(event => event.key)).toEqual(keys)
        expect(other.events.map(event => event.revision)).toEqual([first, await writes[0]])
        writer.close()
      })

      test('whose sink throws ends alone', async () => {
        const start = await store.revision()
        const ended = new Promise(resolve => {
          store.watch('/things/', start, {
            event() {
              throw new Error('broken sink')
            },
            end: resolve,
          })
        })
        const other = recordWatch(store, '/things/', start)
        await create('/things/a')
        await create('/things/b')
        await other.count(2)
        expect(await ended).toMatchObject({ code: 'sink-failed' })
      })

      test('from a revision that has not happened ends with an error', async () => {
        const seen = recordWatch(store, '/things/', (await store.revision()) + 1000)
        expect((await seen.end()).code).toBe('future-revision')
      })

      test('is ended when the store closes', async () => {
        const seen = recordWatch(store, '/things/', await store.revision())
        await create('/things/a')
        await seen.count(1)
        await store.close()
        expect((await seen.end()).code).toBe('closed')
      })
    })

    describe('compaction', () => {
      test('discards older revisions, keeps the rest', async () => {
        const first = await create('/things/a', 'one')
        const second = await update('/things/a', 'two', first)
        const third = await update('/things/a', 'three', second)
        await create('/things/b', 'b')
        const gone = await create('/things/gone', 'x')
        const deleted = await remove('/things/gone', gone)
        const last = await update('/things/a', 'four', third)
        await store.compact(deleted)

        await fails('compacted', store.get('/things/a', { exactly: second }))
        await fails('compacted', store.range('/things/', { at: { exactly: gone } }))
        expect((await store.get('/things/a', { exactly: deleted }))?.value.toString()).toBe('three')
        expect((await list('/things/', { at: { exactly: deleted } })).values).toEqual(['three', 'b'])
        expect((await store.get('/things/a'))?.revision).toBe(last)
        expect((await list('/things/')).values).toEqual(['four', 'b'])
        expect(await store.revision()).toBe(last)
      })

      test('ends watches from before it, not those from after it', async () => {
        const first = await create('/things/a', '1')
        const second = await update('/things/a', '2', first)
        const third = await update('/things/a', '3', second)
        const fourth = await update('/things/a', '4', third)
        await store.compact(third)
        expect((await recordWatch(store, '/things/', first).end()).code).toBe('compacted')
        const seen = recordWatch(store, '/things/', third)
        expect(brief(await seen.count(1))).toEqual([`update /things/a=4 (was 3 @${third}) @${fourth}`])
      })

      test('does not end a watch that is up to date', async () => {
        const seen = recordWatch(store, '/things/', await store.revision())
        const first = await create('/things/a', '1')
        await seen.count(1)
        const last = await update('/things/a', '2', first)
        await seen.count(2)
        await store.compact(last)
        await create('/things/b', '3')
        await seen.count(3)
        expect(seen.ended).toBeUndefined()
      })

      test('twice to the same revision, or back, changes nothing', async () => {
        const first = await create('/things/a', '1')
        const second = await update('/things/a', '2', first)
        await store.compact(second)
        await store.compact(second)
        await store.compact(first)
        expect((await store.get('/things/a', { exactly: second }))?.value.toString()).toBe('2')
      })

      test('to a revision that has not happened fails', async () => {
        await fails('future-revision', store.compact((await store.revision()) + 1000))
      })

      test('of a long history does not change the current state', async () => {
        const revisions = new Map<string, Revision>()
        for (let i = 0; i < 300; i++) {
          const key = `/things/${i % 20}`
          const had = revisions.get(key)
          if (had === undefined) revisions.set(key, await create(key, `${i}`))
          else if (i % 7 === 0) {
            await remove(key, had)
            revisions.delete(key)
          } else revisions.set(key, await update(key, `${i}`, had))
        }
        const before = await store.range('/things/')
        await store.compact(before.revision)
        expect(summary(await store.range('/things/'))).toEqual(summary(before))
        expect(summary(await store.range('/things/', { at: { exactly: before.revision } }))).toEqual(summary(before))
      })
    })

    describe('bad input', () => {
      const badKeys = ['', 'a', '/', '/a/', '//a', '/a//b', '/a\0b', '/\ud800', 'relative/key']
      test.each(badKeys)('the key %j is refused', async key => {
        const value = bytes('x')
        await fails('invalid-key', store.get(key))
        await fails('invalid-key', store.create(key, value))
        await fails('invalid-key', store.update(key, value, 1))
        await fails('invalid-key', store.delete(key, 1))
      })

      test.each(['', 'a', '/a', 'a/', '//', '/a//', '/\0/', '/\udfff/'])('the prefix %j is refused', async prefix => {
        await fails('invalid-prefix', store.range(prefix))
      })

      test('a page cannot start outside its prefix, nor have a limit below one', async () => {
        await fails('invalid-key', store.range('/things/', { startAfter: '/other/a' }))
        await fails('invalid-key', store.range('/things/', { startAfter: '/things/' }))
        for (const limit of [0, -1, 1.5, Number.NaN]) await fails('invalid-limit', store.range('/things/', { limit }))
      })

      test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60])(
        'the revision %d is refused',
        async revision => {
          await fails('invalid-revision', store.get('/things/a', { exactly: revision }))
          await fails('invalid-revision', store.get('/things/a', { notOlderThan: revision }))
          await fails('invalid-revision', store.range('/things/', { at: { exactly: revision } }))
          await fails('invalid-revision', store.update('/things/a', bytes('x'), revision))
          await fails('invalid-revision', store.delete('/things/a', revision))
          await fails('invalid-revision', store.compact(revision))
          expect(() => store.watch('/things/', revision, { event() {}, end() {} })).toThrow(/not a revision/)
        },
      )

      test('nothing can be updated or deleted at revision 0', async () => {
        await fails('invalid-revision', store.update('/things/a', bytes('x'), 0))
        await fails('invalid-revision', store.delete('/things/a', 0))
      })

      test('a malformed target cannot be watched', () => {
        for (const target of ['', 'a', '//', '/\0']) {
          expect(() => store.watch(target, 0, { event() {}, end() {} })).toThrow(/is not a key or prefix/)
        }
      })

      test('the longest key works, a longer one is refused', async () => {
        const max = `/things/${'k'.repeat(MAX_KEY_BYTES - 8)}`
        const first = await create(max, 'one')
        await remove(max, await update(max, 'two', first))
        expect((await store.get(max, { exactly: first }))?.value.toString()).toBe('one')
        await fails('key-too-large', store.create(`${max}k`, bytes('x')))
        await fails('key-too-large', store.create(`/things/${'é'.repeat(MAX_KEY_BYTES / 2)}`, bytes('x')))
      })

      test('the largest value works, a larger one is refused', async () => {
        const max = opened.maxValueBytes ?? MAX_VALUE_BYTES
        const value = Buffer.alloc(max, 'v')
        const first = done(await store.create('/things/large', value))
        await update('/things/large', 'small', first)
        expect((await store.get('/things/large', { exactly: first }))?.value.equals(value)).toBe(true)
        await fails('value-too-large', store.create('/things/larger', Buffer.alloc(MAX_VALUE_BYTES + 1)))
      })

      test.each(['__proto__', 'constructor', 'toString', '..', '%2F', ' '])(
        'the name %j is a name like others',
        async name => {
          const revision = await create(`/things/${name}`, 'odd')
          expect((await store.get(`/things/${name}`))?.value.toString()).toBe('odd')
          expect((await list('/things/')).keys).toEqual([`/things/${name}`])
          await remove(`/things/${name}`, revision)
        },
      )
    })

    describe('a closed store', () => {
      test('fails all operations, and can be closed again', async () => {
        await store.close()
        await fails('closed', store.get('/things/a'))
        await fails('closed', store.range('/things/'))
        await fails('closed', store.create('/things/a', bytes('x')))
        await fails('closed', store.revision())
        await fails('closed', store.compact(1))
        expect(() => store.watch('/things/', 0, { event() {}, end() {} })).toThrow(/closed/)
        await store.close()
      })

      test('has finished every earlier write', async () => {
        const writes = Array.from({ length: 20 }, (_, i) => store.create(`/things/${i}`, bytes('x')))
        const [results] = await Promise.all([Promise.allSettled(writes), store.close()])
        for (const result of results) {
          if (result.status === 'fulfilled') expect(result.value.done).toBe(true)
          else expect(result.reason).toHaveProperty('code')
        }
      })
    })
  })
}

const bytes = (text: string): Buffer => Buffer.from(text)

function done(result: Awaited<ReturnType<Store['create']>>): Revision {
  if (!result.done) throw new Error(`refused: ${JSON.stringify(result.current)}`)
  return result.revision
}

const summary = ({ entries, remaining }: Page) => ({
  keys: entries.map(entry => entry.key),
  values: entries.map(entry => entry.value.toString()),
  remaining,
})

const fails = (code: StorageErrorCode, action: Promise<unknown>) =>
  expect(action).rejects.toMatchObject({ name: 'StorageError', code })
