// Many entries: long reads are of one revision despite concurrent writes, and do not block other work.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkIntegrity } from '../../src/storage/lmdb/integrity.js'
import { openLmdbStore } from '../../src/storage/lmdb/lmdb-store.js'
import type { Page, Store } from '../../src/storage/store.js'
import { recordWatch } from '../../src/storage/watch-recorder.suite.js'

const COUNT = 45_000

let directory: string
let store: Store

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'binnacle-large-'))
  store = await openLmdbStore(directory)
  await Promise.all(Array.from({ length: COUNT }, (_, i) => store.create(keyOf(i), Buffer.from(`${i}`))))
})

afterAll(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

const keyOf = (i: number): string => `/things/${String(i).padStart(6, '0')}`

test('a long range is of one revision during writes', async () => {
  const at = await store.revision()
  const page = store.range('/things/')
  const writes = [
    store.create('/things/000000x', Buffer.from('new')),
    ...Array.from({ length: 200 }, (_, i) => replace(i * 200)),
  ]
  const { revision, entries, remaining } = await page
  expect({ revision, remaining, count: entries.length }).toEqual({ revision: at, remaining: 0, count: COUNT })
  expect(entries.every((entry, i) => entry.key === keyOf(i) && entry.value.toString() === `${i}`)).toBe(true)
  await Promise.all(writes)
  // The same from history.
  const past = await store.range('/things/', { at: { exactly: at } })
  expect(past).toEqual({ revision, entries, remaining })
  expect((await store.range('/things/')).entries).toHaveLength(COUNT + 1)
})

test('pages have the number of remaining entries, during writes', async () => {
  const [first, second] = await Promise.all([
    store.range('/things/', { limit: 3 }),
    store.range('/things/', { limit: 5 }),
  ])
  expect([first.remaining, second.remaining]).toEqual([COUNT + 1 - 3, COUNT + 1 - 5])
  await store.create('/things/zzz', Buffer.from('new'))
  expect((await store.range('/things/', { limit: 3 })).remaining).toBe(COUNT + 2 - 3)

  const at = { exactly: first.revision }
  const next: Page = await store.range('/things/', { at, limit: 2500, startAfter: first.entries.at(-1)!.key })
  expect([next.entries.length, next.remaining]).toEqual([2500, COUNT + 1 - 2503])
  const middle = await store.range('/things/', { at, limit: 1, startAfter: keyOf(1000) })
  expect(middle.remaining).toBe(COUNT - 1002)
})

test('compaction continues in steps during writes', async () => {
  const before = await store.range('/things/')
  let written = 0
  const writing = (async () => {
    for (let i = 0; i < 100; i++) {
      await store.create(`/others/${i}`, Buffer.from('x'))
      written++
    }
  })()
  await store.compact(before.revision)
  // The 45,000 entries are removed after the call, which only records the new start of history.
  await store.compact((await store.revision()) - 1)
  await writing
  expect(written).toBe(100)
  const after = await store.range('/things/')
  expect(after.entries).toEqual(before.entries)
})

test('closing ends a long range and leaves a consistent directory', async () => {
  const page = store.range('/').catch((error: unknown) => error)
  await store.close()
  expect(await page).toMatchObject({ code: 'closed' })
  expect(await checkIntegrity(directory)).toEqual([])
  store = await openLmdbStore(directory)
  expect((await store.range('/')).entries).toHaveLength(COUNT + 102)
})

async function replace(i: number): Promise<void> {
  const entry = await store.get(keyOf(i))
  await store.update(keyOf(i), Buffer.from('replaced'), entry!.revision)
}

test('a watch catches up with large values a few at a time, and misses none', async () => {
  const start = await store.revision()
  const sizes = [7, 6, 5, 8, 1, 7, 8].map(mib => mib * 1024 * 1024)
  const written: number[] = []
  for (const [i, size] of sizes.entries()) {
    const result = await store.create(`/large/${i % 3}-${i}`, Buffer.alloc(size, i))
    if (result.done) written.push(result.revision)
  }
  const seen = recordWatch(store, '/large/', start)
  const events = await seen.count(sizes.length)
  expect(events.map(event => event.revision)).toEqual(written)
  expect(events.map(event => event.value?.length)).toEqual(sizes)
  seen.watch.close()
})
