// The journal and the writes in it. LMDB syncs a transaction twice, first its pages and then its meta page, and writes some ten
// pages for one entry. So a group of writes is first appended to the journal, with one sync, and acknowledged. The writer puts
// the writes of many groups into the tables in one transaction, at the latest after a second.
//
// Nothing is acknowledged for which the tables may have no space: where that is short, groups go to the tables at once.
//
// A group that cannot be synced is cut off from the journal and goes to the tables. If they take it, or any later group, their new
// epoch makes the journal's records void. Until then a record that could not be cut off may come back: its outcome is unknown.

import type { Entry, StoreEvent } from '../store.js'
import type { CommitPace } from './commit-pace.js'
import type { DiskSpace, Need } from './disk/disk-space.js'
import { createJournalFile } from './disk/journal-file.js'
import type { JournalRecord, Place } from './disk/journal-record.js'
import { currentEntry } from './history.js'
import { corrupt, readState, type Tables } from './layout.js'
import { createRecentWrites, type RecentWrites } from './recent-writes.js'

export interface Journal {
  readonly recent: RecentWrites
  /** Whether the group is in the journal now, and on disk: then the caller adds it to `recent`. `place` is that of the tables. */
  append(events: readonly StoreEvent[], bytes: number, place: Place): boolean | Promise<boolean>
  /** Whether a group that was not appended is certainly not found after a restart. */
  cutOff(): Promise<boolean>
  /** The recent writes are in the tables, which have a new epoch. */
  emptied(): void
  close(): void
}

/** How much is put into the tables in one transaction: it is prepared in the event loop. */
const MAX_EVENTS = 1024
const MAX_BYTES = 4 * 1024 * 1024
/** The most space that this takes. Each value, and each one that is replaced, may begin and end within a page of its own. */
const NEED: Need = { entries: MAX_EVENTS, large: [MAX_BYTES + 2 * MAX_EVENTS * 2 * 4096], urgent: false }

/** `found` are the writes that the journal has, and `end` is where its records end. */
export function createJournal(
  file: string,
  { events: found, end }: FoundWrites,
  diskSpace: DiskSpace,
  pace: CommitPace,
): Journal {
  const recent = createRecentWrites()
  recent.add(found, bytesOf(found))
  const records = createJournalFile(file, end)

  function appendAtOnce(events: readonly StoreEvent[], place: Place): boolean | Promise<boolean> {
    const begin = performance.now()
    try {
      records.appendAtOnce(events, place)
      return true
    } catch {
      return cutOff()
    } finally {
      pace.took(performance.now() - begin)
    }
  }

  async function append(events: readonly StoreEvent[], place: Place): Promise<boolean> {
    try {
      await records.append(events, place)
      return true
    } catch {
      return cutOff()
    }
  }

  /** The transaction that follows finds out what the matter is. */
  async function cutOff(): Promise<false> {
    await records.cutOff()
    return false
  }

  return {
    recent,
    append(events, bytes, place) {
      if (events.length === 0) return false
      if (recent.events.length + events.length > MAX_EVENTS || recent.bytes + bytes > MAX_BYTES) return false
      if (!diskSpace.keepFree(NEED)) return false
      return pace.isAtOnce(events.length, bytes) ? appendAtOnce(events, place) : append(events, place)
    },
    cutOff: records.cutOff,
    emptied() {
      recent.clear()
      records.rewind()
    },
    close: () => records.close(recent.events.length === 0),
  }
}

/** Writes are not kept in a journal, but for those that were found in it. */
export function noJournal({ events: found }: FoundWrites): Journal {
  const recent = createRecentWrites()
  recent.add(found, bytesOf(found))
  return { recent, append: () => false, cutOff: async () => true, emptied: () => recent.clear(), close() {} }
}

/** The writes that are only in the journal: those before the process or the machine ended. */
export interface FoundWrites {
  readonly events: readonly StoreEvent[]
  /** Where their records end in the file. */
  readonly end: number
}

/** Throws if the records are not those that the tables go on with. */
export function findWrites(tables: Tables, records: readonly JournalRecord[]): FoundWrites {
  const { id, epoch, revision: stored } = readState(tables)
  const events: StoreEvent[] = []
  const entries = new Map<string, Entry | undefined>()
  let end = 0
  for (const record of records) {
    if (record.id !== id)
      throw corrupt('the journal belongs to another data file; remove it if the data file comes from a backup')
    if (record.epoch < epoch) continue
    if (record.epoch > epoch)
      throw corrupt(`it is older than its journal; if it comes from a backup, remove the journal`)
    // A record is written after the one before it was synced.
    if (record.start !== end) throw corrupt(`the journal is damaged between its bytes ${end} and ${record.start}`)
    for (const { revision, key, value, replaced } of record.writes) {
      const previous = entries.has(key) ? entries.get(key) : currentEntry(tables, key)
      if (revision !== stored + events.length + 1)
        throw corrupt(`after revision ${stored + events.length} the journal has ${revision}`)
      if ((previous?.revision ?? 0) !== replaced) throw corrupt(`the journal replaces revision ${replaced} of ${key}`)
      entries.set(key, value && { key, value, revision })
      events.push({ revision, key, value, previous })
    }
    end = record.end
  }
  return { events, end }
}

/** Whether the records of the latest epoch follow each other from the start. */
export function isUnbroken(records: readonly JournalRecord[]): boolean {
  const latest = Math.max(...records.map(({ epoch }) => epoch))
  let end = 0
  for (const record of records) {
    if (record.epoch !== latest) continue
    if (record.start !== end) return false
    end = record.end
  }
  return true
}

const bytesOf = (events: readonly StoreEvent[]): number =>
  events.reduce((sum, { value, previous }) => sum + (value?.length ?? 0) + (previous?.value.length ?? 0), 0)
