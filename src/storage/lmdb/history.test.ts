// Compares the LMDB store with the memory store: the same operations must give the same results at every revision.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMemoryStore } from '../memory/memory-store.js'
import type { Page, ReadAt, Revision, Store, StoreEvent, WriteResult } from '../store.js'
import { brief } from '../watch-recorder.suite.js'
import { checkIntegrity } from './integrity.js'
import { openLmdbStore } from './lmdb-store.js'
import { temporaryDirectory } from './temporary-directory.suite.js'

const KEYS = ['/a/1', '/a/1/x', '/a/2', '/a/2\u0001', '/a/10', '/b/1', '/b', '/a-b/1']
const PREFIXES = ['/', '/a/', '/a/1/', '/none/']

let directory: string

beforeEach(async () => {
  directory = await temporaryDirectory()
})

afterEach(() => rm(directory, { recursive: true }))

interface Write {
  readonly key: string
  /** Undefined: delete the key. */
  readonly value: string | undefined
}

interface Batch {
  /** Written without waiting for results, so that some share a group. */
  readonly writes: readonly Write[]
  /** The part of the history to compact afterwards. */
  readonly forget: number
  readonly reopen: boolean
}

const write: fc.Arbitrary<Write> = fc.record({
  key: fc.constantFrom(...KEYS),
  value: fc.option(fc.string(), { freq: 3, nil: undefined }),
})

const batch: fc.Arbitrary<Batch> = fc.record({
  writes: fc.array(write, { maxLength: 12 }),
  forget: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 1, nil: 0 }),
  reopen: fc.nat(5).map(chance => chance === 0),
})

test('gives the same results as the memory store after any writes and compactions', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { maxLength: 8 }), async batches => {
      const path = join(directory, `${run++}`)
      const memory = createMemoryStore()
      let store = await openLmdbStore(path)
      try {
        let forgotten = 0
        for (const { writes, forget, reopen } of batches) {
          const revisions = await revisionsOf(memory)
          const start = await memory.revision()
          const answers = await Promise.all(apply(memory, writes, new Map(revisions), start))
          expect(await Promise.all(apply(store, writes, new Map(revisions), start))).toEqual(answers)
          const to = Math.floor(forget * (await memory.revision()))
          await Promise.all([memory.compact(to), store.compact(to)])
          forgotten = Math.max(forgotten, to)
          if (reopen) {
            await store.close()
            store = await openLmdbStore(path)
          }
        }
        for (let at = Math.max(0, forgotten - 1); at <= (await memory.revision()); at++) {
          expect(await everythingAt(store, at), `at ${at}`).toEqual(await everythingAt(memory, at))
        }
        expect(await store.range('/')).toEqual(await memory.range('/'))
      } finally {
        await store.close()
      }
      expect(await checkIntegrity(path)).toEqual([])
    }),
    { numRuns: 8 },
  )
})

test('a read shows the state of its revision while groups are being committed', async () => {
  const store = await openLmdbStore(directory)
  const work = { goesOn: true }
  const change = async (writer: number) => {
    const key = `/a/${writer}`
    for (let i = 0; i < 40; i++) {
      const entry = await store.get(key)
      const value = Buffer.from(`${i}`)
      if (!entry) await store.create(key, value)
      else if (i % 3 === 0) await store.delete(key, entry.revision)
      else await store.update(key, value, entry.revision)
    }
  }
  const read = async () => {
    while (work.goesOn) {
      const page = await store.range('/a/', { limit: 5 })
      const again = await store.range('/a/', { limit: 5, at: { exactly: page.revision } })
      expect(again).toEqual(page)
      for (const entry of page.entries) {
        expect(await store.get(entry.key, { exactly: page.revision })).toEqual(entry)
      }
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  const reading = read()
  await Promise.all(Array.from({ length: 20 }, (_, writer) => change(writer)))
  work.goesOn = false
  await reading
  await store.close()
})

async function revisionsOf(store: Store): Promise<[string, Revision][]> {
  const { entries } = await store.range('/')
  return entries.map(({ key, revision }) => [key, revision])
}

/** Writes are applied in order, so their outcomes are predictable. A delete of a missing key is refused. */
function apply(
  store: Store,
  writes: readonly Write[],
  revisions: Map<string, Revision>,
  start: Revision,
): Promise<WriteResult>[] {
  let revision = start
  return writes.map(({ key, value }) => {
    const expected = revisions.get(key)
    if (value === undefined) {
      if (expected === undefined) return store.delete(key, 1)
      revision++
      revisions.delete(key)
      return store.delete(key, expected)
    }
    revisions.set(key, ++revision)
    return expected === undefined
      ? store.create(key, Buffer.from(value))
      : store.update(key, Buffer.from(value), expected)
  })
}

/** The results of all reads at a revision. */
async function everythingAt(store: Store, revision: Revision) {
  const at: ReadAt = { exactly: revision }
  const entries = await Promise.all(KEYS.map(key => orError(store.get(key, at))))
  const pages = await Promise.all(PREFIXES.map(name => orError(inPages(store, name, at))))
  return { entries, pages, events: await eventsAfter(store, revision) }
}

async function inPages(store: Store, name: string, at: ReadAt): Promise<Page[]> {
  const pages = [await store.range(name, { at })]
  let startAfter: string | undefined
  do {
    const page = await store.range(name, { at, limit: 2, startAfter })
    pages.push(page)
    startAfter = page.remaining > 0 ? page.entries.at(-1)!.key : undefined
  } while (startAfter !== undefined)
  return pages
}

function eventsAfter(store: Store, revision: Revision): Promise<string[]> {
  return new Promise(resolve => {
    const events: StoreEvent[] = []
    const watch = store.watch('/', revision, {
      event: event => void events.push(event),
      progress() {
        watch.close()
        resolve(brief(events))
      },
      end: error => resolve([...brief(events), error.code]),
    })
    watch.requestProgress()
  })
}

const orError = (answer: Promise<unknown>): Promise<unknown> =>
  answer.catch((error: unknown) => (error as { code: string }).code)
