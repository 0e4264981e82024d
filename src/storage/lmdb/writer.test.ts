import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { StoreEvent } from '../store.js'
import { createCommitPace } from './commit-pace.js'
import type { DiskSpace } from './disk/disk-space.js'
import { type Journal, noJournal } from './journal.js'
import { openTables, STATE, type Tables } from './layout.js'
import { temporaryDirectory } from './temporary-directory.suite.js'
import { createWriter } from './writer.js'

let directory: string
let tables: Tables
beforeEach(async () => {
  directory = await temporaryDirectory()
  tables = openTables(join(directory, 'store.mdb'))
  await tables.meta.put(STATE, { revision: 0, compacted: 0, id: 1, epoch: 0 })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await tables.root.close()
  rmSync(directory, { recursive: true })
})

const PLENTY: DiskSpace = {
  reserve: () => undefined,
  keepFree: () => true,
  keepReserve: () => undefined,
  close: async () => {},
}

function start(journal: Journal) {
  const events: StoreEvent[] = []
  const writer = createWriter(
    { tables, journal, diskSpace: PLENTY, pace: createCommitPace() },
    {
      nextMaintenance: () => undefined,
      needSpace() {},
      reopen: async () => {},
      committed: more => void events.push(...more),
    },
  )
  return { writer, events }
}

test('an error that nothing expects does not end the writer', async () => {
  const journal = noJournal({ events: [], end: 0 })
  let isBroken = true
  const { writer, events } = start({
    ...journal,
    append() {
      if (isBroken) throw new Error('unexpected')
      return false
    },
  })
  await expect(writer.write('/a', Buffer.from('1'), 0)).rejects.toMatchObject({ code: 'outcome-unknown' })
  expect(writer.hasFailed).toBe(true)
  await expect(writer.write('/a', Buffer.from('2'), 0)).rejects.toMatchObject({ code: 'unavailable' })
  isBroken = false
  await vi.advanceTimersByTimeAsync(1000)
  await writer.idle()
  expect(await writer.write('/a', Buffer.from('3'), 0)).toEqual({ done: true, revision: 1 })
  expect(events.map(({ revision }) => revision)).toEqual([1])
  expect(writer.hasFailed).toBe(false)
})

test('a group ends at 1,024 writes, and when its values reach 16 MiB', async () => {
  const groups: { readonly writes: number; readonly bytes: number }[] = []
  const { writer } = start({
    ...noJournal({ events: [], end: 0 }),
    append(events, bytes) {
      groups.push({ writes: events.length, bytes })
      return false
    },
  })
  await Promise.all(Array.from({ length: 1500 }, (_, i) => writer.write(`/small/${i}`, Buffer.from('x'), 0)))
  expect(groups.map(({ writes }) => writes)).toEqual([1024, 476])
  groups.length = 0
  const value = Buffer.alloc(3 * 2 ** 20)
  await Promise.all(Array.from({ length: 8 }, (_, i) => writer.write(`/large/${i}`, value, 0)))
  expect(groups).toEqual([
    { writes: 6, bytes: 18 * 2 ** 20 },
    { writes: 2, bytes: 6 * 2 ** 20 },
  ])
})
