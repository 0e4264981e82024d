import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../memory/memory-store.js'
import type { Entry, ReadAt, Revision, Store } from '../store.js'
import type { AttributeTerm } from './entry-attributes.js'
import { createGatedStore } from './gated-store.suite.js'
import { createWatchCache, type WatchCache } from './watch-cache.js'

const STORES: Record<string, () => Store> = { embedded: createMemoryStore, remote: () => createGatedStore() }

const labels = (name: string, ...values: string[]): AttributeTerm => ({ source: 'labels', name, values })

/** A value is its labels: `a1 b2`. */
const labelsIn = (value: Buffer): Record<string, string> =>
  Object.fromEntries(
    value
      .toString()
      .split(' ')
      .filter(Boolean)
      .map(text => [text[0]!, text.slice(1)]),
  )

const open = (kind: string, window?: { events: number }) => {
  const store = STORES[kind]!()
  const cache = createWatchCache(store, '/pods/', {
    ...(window && { window }),
    pageSize: 3,
    getAttributes: (_key, value) => ({ indexedFields: {}, labels: labelsIn(value), data: undefined }),
  })
  return { store, cache }
}

/** The first read by a term begins the index; this waits until it answers. */
async function indexed(cache: WatchCache<undefined>): Promise<void> {
  while (!(await cache.range('/pods/', { terms: [labels('a', '1')] })).isSelected) await turn()
}

const turn = () => new Promise(resolve => setImmediate(resolve))
const bytes = (text: string): Buffer => Buffer.from(text)
const names = (entries: readonly Entry[]): string[] => entries.map(({ key, value }) => `${key}=${value.toString()}`)

describe.each(Object.keys(STORES))('a read by a label on the cache of a store that is %s', kind => {
  test('is answered at once where reads are local', async () => {
    const { store, cache } = open(kind)
    const find = (at: ReadAt = 'latest') => cache.rangeNow('/pods/', { terms: [labels('a', '1')], at })
    await cache.create('/pods/x/1', bytes('a1'))
    expect(find()).toBeUndefined()
    await indexed(cache)
    await cache.create('/pods/x/2', bytes('a1'))
    await store.create('/other', bytes(''))
    const page = find()
    expect(page && names(page.entries)).toEqual(store.embedded ? ['/pods/x/1=a1', '/pods/x/2=a1'] : undefined)
    expect(page?.revision).toBe(store.embedded ? 3 : undefined)
    expect(find({ notOlderThan: 4 })).toBeUndefined()
    expect(find({ exactly: 1 })).toBeUndefined()
  })

  test('finds what has the label, page by page, without reading the rest', async () => {
    const { cache } = open(kind)
    for (let i = 0; i < 10; i++) await cache.create(`/pods/x/${i}`, bytes(i % 3 === 0 ? 'a1' : 'a2'))
    await indexed(cache)
    const first = await cache.range('/pods/', { terms: [labels('a', '1')], limit: 3 })
    expect(names(first.entries)).toEqual(['/pods/x/0=a1', '/pods/x/3=a1', '/pods/x/6=a1'])
    expect(first).toMatchObject({ isSelected: true, remaining: 1 })
    const next = await cache.range('/pods/', {
      terms: [labels('a', '1')],
      limit: 3,
      startAfter: '/pods/x/6',
      at: { exactly: first.revision },
    })
    expect(next).toMatchObject({ isSelected: true, remaining: 0, revision: first.revision })
    expect(names(next.entries)).toEqual(['/pods/x/9=a1'])
    expect((await cache.range('/pods/y/', { terms: [labels('a', '1')] })).entries).toEqual([])
  })

  test('sees a write that was acknowledged before', async () => {
    const { cache } = open(kind)
    await cache.create('/pods/x/1', bytes('a1'))
    await indexed(cache)
    await cache.create('/pods/x/2', bytes('a1'))
    await cache.update('/pods/x/1', bytes('a2'), 1)
    const page = await cache.range('/pods/', { terms: [labels('a', '1')] })
    expect(page.isSelected).toBe(true)
    expect(names(page.entries)).toEqual(['/pods/x/2=a1'])
  })

  test('answers for an earlier revision as far as the window reaches, and reads all entries beyond', async () => {
    const { cache } = open(kind, { events: 8 })
    await cache.create('/pods/x/1', bytes('a1'))
    await cache.create('/pods/x/2', bytes('a2'))
    await indexed(cache)
    await cache.update('/pods/x/1', bytes('a2'), 1)
    await cache.update('/pods/x/2', bytes('a1'), 2)
    const at = (exactly: Revision) => cache.range('/pods/', { terms: [labels('a', '1')], at: { exactly } })
    expect(await at(2)).toMatchObject({ isSelected: true, entries: [{ key: '/pods/x/1', revision: 1 }] })
    expect(await at(3)).toMatchObject({ isSelected: true, entries: [] })
    expect(await at(4)).toMatchObject({ isSelected: true, entries: [{ key: '/pods/x/2', revision: 4 }] })
    for (let i = 0; i < 20; i++) await cache.create(`/pods/y/${i}`, bytes(''))
    const all = await at(2)
    expect(all.isSelected).toBeUndefined()
    expect(names(all.entries)).toEqual(['/pods/x/1=a1', '/pods/x/2=a2'])
  })

  test('equals reading all entries, after any writes and at any revision', async () => {
    const value = fc.constantFrom('', 'a1', 'a2', 'a1 b1', 'a2 b1', 'b2')
    const write = fc.record({
      key: fc.nat(9).map(i => `/pods/${i % 2}/${i}`),
      value: fc.option(value, { nil: undefined }),
    })
    const read = fc.record({
      terms: fc.array(fc.constantFrom(labels('a', '1'), labels('a', '1', '2'), labels('b', '1')), {
        minLength: 1,
        maxLength: 2,
      }),
      past: fc.nat(6),
      limit: fc.integer({ min: 1, max: 4 }),
      prefix: fc.constantFrom('/pods/', '/pods/0/'),
    })
    const steps = fc.array(fc.oneof(write, read), { minLength: 10, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(20), async (all, window) => {
        const { cache, store } = open(kind, { events: window + 4 })
        for (const step of all) {
          if ('key' in step) await change(store, step.key, step.value)
          else await compareReads(cache, store, step)
        }
        await cache.close()
      }),
      { numRuns: 60 },
    )
  })
})

test('a later page does not wait for the index', async () => {
  const memory = createMemoryStore()
  const store: Store = {
    ...memory,
    // The pages of the index never come.
    range: (prefix, options) => (options?.isUncounted ? new Promise(() => {}) : memory.range(prefix, options)),
  }
  const cache = createWatchCache(store, '/pods/', {
    waitTimeout: 1_000_000,
    getAttributes: (_key, value) => ({ indexedFields: {}, labels: labelsIn(value), data: undefined }),
  })
  for (const name of ['1', '2', '3']) await cache.create(`/pods/x/${name}`, bytes('a1'))
  const page = await cache.range('/pods/', { terms: [labels('a', '1')], startAfter: '/pods/x/1' })
  expect(names(page.entries)).toEqual(['/pods/x/2=a1', '/pods/x/3=a1'])
  await cache.close()
})

/** A cache whose index gets its second page, which has the last keys, only when it is let through. */
async function openHalfIndexed(waitTimeout: number) {
  const memory = createMemoryStore()
  let letThrough = (): void => {}
  const second = new Promise<void>(resolve => (letThrough = resolve))
  const store: Store = {
    ...memory,
    async range(prefix, options) {
      if (options?.isUncounted && options.startAfter !== undefined) await second
      return memory.range(prefix, options)
    },
  }
  const getAttributes = (_key: string, value: Buffer) => ({
    indexedFields: {},
    labels: labelsIn(value),
    data: undefined,
  })
  const cache = createWatchCache(store, '/pods/', { waitTimeout, pageSize: 3, getAttributes })
  for (const key of ['a/1', 'a/2', 'b/1', 'b/2']) await cache.create(`/pods/${key}`, bytes('a1'))
  return { cache, letThrough }
}

test('an index that is not complete answers for the keys that it has reached', async () => {
  const { cache } = await openHalfIndexed(10)
  const terms = [labels('a', '1')]
  expect(await cache.range('/pods/a/', { terms })).toMatchObject({ entries: { length: 2 }, isSelected: true })
  expect((await cache.range('/pods/b/', { terms })).isSelected).toBeUndefined()
  const { revision } = (await cache.update('/pods/a/2', bytes('a2'), 2)) as { revision: number }
  expect(await cache.range('/pods/a/', { terms })).toMatchObject({ revision, entries: { length: 1 }, isSelected: true })
  await cache.close()
})

test('a read of all entries waits for an index that has begun with them', async () => {
  const { cache, letThrough } = await openHalfIndexed(1)
  const reading = cache.range('/pods/', { terms: [labels('a', '1')], readsAll: true })
  // It would not wait longer than this otherwise.
  const other = await cache.range('/pods/', { terms: [labels('a', '1')] })
  expect(other.isSelected).toBeUndefined()
  letThrough()
  expect(await reading).toMatchObject({ entries: { length: 4 }, isSelected: true })
  await cache.close()
})

async function change(store: Store, key: string, text: string | undefined): Promise<void> {
  const before = await store.get(key)
  if (text === undefined) return void (before && (await store.delete(key, before.revision)))
  await (before ? store.update(key, bytes(text), before.revision) : store.create(key, bytes(text)))
}

interface ReadStep {
  readonly terms: readonly AttributeTerm[]
  readonly past: number
  readonly limit: number
  readonly prefix: string
}

async function compareReads(cache: WatchCache<undefined>, store: Store, step: ReadStep): Promise<void> {
  const { terms, past, limit, prefix } = step
  const revision = Math.max(0, (await store.revision()) - past)
  const selected = (entries: readonly Entry[]) =>
    entries.filter(({ value }) => terms.every(({ name, values }) => values!.includes(labelsIn(value)[name]!)))
  const found: Entry[] = []
  let at: ReadAt = past === 0 ? 'latest' : { exactly: revision }
  for (let startAfter: string | undefined; ; ) {
    const page = await cache.range(prefix, { terms, at, limit, startAfter })
    if (page.isSelected) expect(names(selected(page.entries))).toEqual(names(page.entries))
    found.push(...selected(page.entries))
    at = { exactly: page.revision }
    startAfter = page.entries.at(-1)?.key
    if (page.remaining === 0) break
  }
  const all = await store.range(prefix, { at })
  expect(names(found)).toEqual(names(selected(all.entries)))
}
