// Whether an acknowledged write was synced, and what happens when the disk fails.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkIntegrity } from '../../src/storage/lmdb/integrity.js'
import { openLmdbStore } from '../../src/storage/lmdb/lmdb-store.js'
import { straceMissing, traceNode } from '../components/strace.js'

const CHILD = fileURLToPath(new URL('lmdb-sync-child.mjs', import.meta.url))
const WRITES = 12

let directory: string
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-disk-'))
  await (await openLmdbStore(join(directory, 'data'))).close()
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

interface Outcome {
  readonly key: string
  readonly code: string
}

interface Ending {
  readonly seen: readonly string[]
  readonly health: string
  readonly stored: readonly string[]
}

interface Run {
  readonly inject?: readonly string[]
  /** The file whose calls fail; all if undefined. */
  readonly file?: 'journal' | 'store.mdb'
  /** How many writes are made at once. */
  readonly together?: number
  readonly writes?: number
}

/** The outcome of each write, and the end, unless the process has crashed. */
async function run({ inject, file, together = 1, writes = WRITES }: Run = {}) {
  const args = [CHILD, join(directory, 'data'), String(writes), String(together)]
  const files = file ? [join(directory, 'data', file)] : []
  const { stdout, calls } = await traceNode(args, { calls: ['fdatasync', 'ftruncate', 'pwrite64'], files, inject })
  const lines = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Outcome | Ending)
  const outcomes = lines.filter(line => 'key' in line)
  const ending = lines.find(line => 'stored' in line)
  const done = outcomes.filter(({ code }) => code === 'done').map(({ key }) => key)
  return { calls, ending, outcomes, done }
}

async function storedKeys(): Promise<string[]> {
  const store = await openLmdbStore(join(directory, 'data'))
  const { entries } = await store.range('/things/')
  await store.close()
  return entries.map(({ key }) => key)
}

describe.skipIf(straceMissing())('the embedded store', () => {
  test('syncs once before it acknowledges a single write', async () => {
    const { calls, done } = await run()
    expect(done).toHaveLength(WRITES)
    const synced = calls.flatMap(line => /fdatasync\(\d+<.*\/(\S+)>\)\s+= 0/.exec(line)?.[1] ?? [])
    expect(synced.length).toBeGreaterThanOrEqual(WRITES)
    // The tables are synced now and then, and when the store is closed; a write that goes to them at once is not in the journal.
    expect(synced.filter(name => name === 'journal').length).toBeLessThanOrEqual(WRITES)
  })

  // One write is synced in the event loop, several are on a thread.
  test.each([1, 2])('refuses nothing if only the journal cannot be synced (%d at once)', async together => {
    const { done, ending } = await run({ inject: ['fdatasync:error=EIO'], file: 'journal', together })
    expect(done).toHaveLength(WRITES)
    expect(ending).toEqual({ stored: done, seen: done, health: 'ok' })
    expect(await storedKeys()).toEqual(done)
    expect(await checkIntegrity(join(directory, 'data'))).toEqual([])
  })

  test('finds what it has acknowledged if the tables can never be synced', async () => {
    const { outcomes, done, ending } = await run({ inject: ['fdatasync:error=EIO'], file: 'store.mdb' })
    expect(outcomes).toHaveLength(WRITES)
    // Later ones are refused if it is time to put the first ones into the tables.
    expect(done.length).toBeGreaterThan(0)
    expect(ending).toMatchObject({ stored: done, seen: done })
    expect(await storedKeys()).toEqual(done)
    expect(await checkIntegrity(join(directory, 'data'))).toEqual([])
  })

  test('does not acknowledge a write that neither the journal nor the tables can sync, and goes on', async () => {
    const { outcomes, done, ending } = await run({ inject: ['fdatasync:error=EIO:when=1..2'] })
    // strace counts the calls of each thread, and a call that follows a slow one is made on a thread. So the record of the
    // journal is cut off in some runs and not in others, and more writes than the first one may fail.
    expect(['unavailable', 'outcome-unknown']).toContain(outcomes[0]?.code)
    expect(outcomes).toHaveLength(WRITES)
    expect(done.length).toBeGreaterThan(0)
    expect(ending).toMatchObject({ stored: done, seen: done })
    expect(await storedKeys()).toEqual(done)
    expect(await checkIntegrity(join(directory, 'data'))).toEqual([])
  })

  test('does not say that a write is refused that comes back after a restart', async () => {
    // Neither the journal nor the tables can be synced, and the record cannot be cut off. The start calls ftruncate twice.
    const { outcomes, ending } = await run({
      inject: ['fdatasync:error=EIO', 'ftruncate:error=EIO:when=3+'],
      writes: 1,
    })
    expect(outcomes).toEqual([{ key: '/things/000', code: 'outcome-unknown' }])
    expect(ending).toMatchObject({ seen: [], stored: [], health: 'unavailable' })
    expect(await storedKeys()).toEqual(['/things/000'])
  })

  // A record of the journal; at the end LMDB's pages and its meta page. lmdb may crash on a failed write of other pages.
  test.each([1, 2, 8, 9, 10, 11])('loses nothing when write %d fails', async n => {
    const { done, ending } = await run({ inject: [`pwrite64:error=EIO:when=${n}`] })
    // strace counts the calls of each thread, so that the last commit, on another thread, may fail too: health is not compared.
    if (ending) expect(ending).toMatchObject({ stored: done, seen: done })
    expect((await storedKeys()).filter(key => done.includes(key))).toEqual(done)
    expect(await checkIntegrity(join(directory, 'data'))).toEqual([])
  })

  test('is not healthy while the disk keeps failing', async () => {
    const { done, ending } = await run({ inject: ['fdatasync:error=EIO'] })
    expect(ending).toEqual({ stored: done, seen: done, health: 'unavailable' })
    expect(done.length).toBeLessThan(WRITES)
  })
})
