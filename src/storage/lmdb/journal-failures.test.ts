// The journal on a disk that fails, or stops, at each of its calls: what was acknowledged is found, what was refused is not.
import { expect, test } from 'vitest'
import type { StoreEvent } from '../store.js'
import type { Disk } from './disk/disk.js'
import { createJournalFile, readJournal } from './disk/journal-file.js'
import { findWrites } from './journal.js'
import type { StoreState, Tables } from './layout.js'

class Stopped extends Error {}

/** What a call does instead of what it should: `stop` ends the process in the middle of it. */
type Fault = 'fail' | 'fail after it was done' | 'stop'

/** A file in memory, as the system shows it and as it is on disk, and the calls of it that have been made. */
function createFaultyDisk(faultOf: (call: number) => Fault | undefined) {
  let seen = Buffer.alloc(0)
  let synced = Buffer.alloc(0)
  let calls = 0
  let isStopped = false
  function call(done: () => void): void {
    if (isStopped) throw new Stopped()
    const fault = faultOf(calls++)
    if (fault !== 'fail') done()
    isStopped = fault === 'stop'
    if (isStopped) throw new Stopped()
    if (fault) throw new Error('EIO')
  }
  const sync = (): void => call(() => (synced = Buffer.from(seen)))
  const disk: Disk = {
    open: () => (call(() => {}), 3),
    read: () => seen,
    write(_, bytes, position) {
      const half = bytes.length >>> 1
      const put = (from: number, to: number): void => {
        const length = Math.max(seen.length, position + to)
        seen = Buffer.concat([seen, Buffer.alloc(length - seen.length)])
        seen.set(bytes.subarray(from, to), position + from)
      }
      put(0, half)
      call(() => put(half, bytes.length))
      return bytes.length
    },
    truncate: (_, length) => call(() => (seen = Buffer.concat([seen, Buffer.alloc(length)]).subarray(0, length))),
    syncAtOnce: sync,
    sync: async () => sync(),
    syncFolder: () => call(() => {}),
    close() {},
  }
  const contents = (): Buffer[] => [seen, synced, mixed(seen, synced, 0), mixed(seen, synced, 1)]
  return { disk, contents, calls: () => calls }
}

/** What a machine that stopped may have written: every other sector. */
function mixed(seen: Buffer, synced: Buffer, odd: number): Buffer {
  const bytes = Buffer.alloc(Math.max(seen.length, synced.length))
  synced.copy(bytes)
  for (let at = odd * SECTOR; at < seen.length; at += 2 * SECTOR) seen.copy(bytes, at, at, at + SECTOR)
  return bytes
}

const SECTOR = 64

interface Outcome {
  readonly events: readonly StoreEvent[]
  readonly outcome: 'done' | 'refused' | 'unknown'
}

/** Appends groups, some at once, and now and then puts them into tables, as the writer does. */
async function run(disk: Disk, tablesFail: (commit: number) => boolean) {
  const journal = createJournalFile('/journal', 0, disk)
  const tables = { id: 9, epoch: 1, revision: 0, compacted: 0 }
  const outcomes: Outcome[] = []
  let revision = 0
  let commits = 0
  let name = 0
  try {
    for (let i = 0; i < GROUPS; i++) {
      const events = Array.from({ length: 1 + (i % 3) }, (_, j): StoreEvent => {
        const value = Buffer.from('x'.repeat(40 * (GROUPS - i)))
        return { revision: revision + 1 + j, key: `/things/${name++}`, value, previous: undefined }
      })
      const running = { events, outcome: 'unknown' } as { -readonly [K in keyof Outcome]: Outcome[K] }
      outcomes.push(running)
      const commit = (): boolean => {
        if (tablesFail(commits++)) return false
        Object.assign(tables, { revision: revision + events.length, epoch: tables.epoch + 1 })
        journal.rewind()
        return true
      }
      let isDone = i % 4 === 3 && commit()
      if (!isDone) {
        try {
          if (i % 2 === 0) journal.appendAtOnce(events, tables)
          else await journal.append(events, tables)
          isDone = true
        } catch (error) {
          if (error instanceof Stopped) throw error
          await journal.cutOff()
          isDone = commit()
        }
      }
      if (isDone) revision += events.length
      running.outcome = isDone ? 'done' : (await journal.cutOff()) ? 'refused' : 'unknown'
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
  }
  return { tables, outcomes }
}

const GROUPS = 7

/** The names of the writes that are there after a restart. Those that the tables have taken are there already. */
function foundIn(content: Buffer, state: StoreState): ReadonlySet<string> {
  const disk = { open: () => 3, read: () => content, syncAtOnce() {}, close() {} } as unknown as Disk
  const tables = { meta: { get: () => state }, current: { get: () => undefined } } as unknown as Tables
  return new Set(findWrites(tables, readJournal('/journal', true, disk)).events.map(({ key }) => key))
}

async function check(faultOf: (call: number) => Fault | undefined, tablesFail: (commit: number) => boolean) {
  const { disk, contents, calls } = createFaultyDisk(faultOf)
  const { tables, outcomes } = await run(disk, tablesFail)
  for (const content of contents()) {
    const found = foundIn(content, tables)
    for (const { events, outcome } of outcomes) {
      for (const { key, revision } of events) {
        const isLost = outcome === 'done' && revision > tables.revision && !found.has(key)
        if (isLost || (outcome === 'refused' && found.has(key))) expect.fail(`${key} is ${outcome}`)
      }
    }
  }
  return { calls: calls(), outcomes }
}

const never = (): boolean => false
const TABLES: readonly ((commit: number) => boolean)[] = [
  never,
  () => true,
  commit => commit === 0,
  commit => commit > 0,
]

test('all is acknowledged on a disk that works', async () => {
  const { outcomes } = await check(() => undefined, never)
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array.from({ length: GROUPS }, () => 'done'))
})

test.each(['fail', 'fail after it was done', 'stop'] as const)('one or two calls %s', async fault => {
  for (const tablesFail of TABLES) {
    const { calls } = await check(() => undefined, tablesFail)
    for (let first = 0; first < calls; first++) {
      for (let second = first; second < calls + 4; second++)
        await check(call => (call === first ? 'fail' : call === second ? fault : undefined), tablesFail)
    }
  }
})

test.each([1, 2, 3, 5, 30])('%d calls fail one after the other', async length => {
  for (const fault of ['fail', 'fail after it was done'] as const) {
    for (const tablesFail of TABLES) {
      for (let first = 0; first < 25; first++)
        await check(call => (call >= first && call < first + length ? fault : undefined), tablesFail)
    }
  }
})

test('a write is refused only if it cannot come back', async () => {
  // The record is written whole; then it can be neither synced nor cut off.
  const { outcomes } = await check(
    call => (call >= 3 ? 'fail' : undefined),
    () => true,
  )
  expect(outcomes[0]!.outcome).toBe('unknown')
  // It is cut off.
  const cut = await check(
    call => (call === 3 ? 'fail' : undefined),
    () => true,
  )
  expect(cut.outcomes[0]!.outcome).toBe('refused')
})
