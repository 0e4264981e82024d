// The journal and the writes in it. LMDB syncs a transaction twice, first its pages and then its meta page, and writes some ten
// pages for one entry. So a group of writes is first appended to the journal, with one sync, and acknowledged. The writer puts
// the writes of many groups into the tables in one transaction, at the latest after a second.
//
// Nothing is acknowledged for which the tables may have no space: where that is short, groups go to the tables at once.

import type { Entry, StoreEvent } from '../store.js'
import type { CommitPace } from './commit-pace.js'
import type { DiskSpace, Need } from './disk/disk-space.js'
import { createJournalFile, type JournaledWrite } from './disk/journal-file.js'
import { currentEntry } from './history.js'
import { corrupt, putEvents, readState, type Tables } from './layout.js'
import { createRecentWrites, type RecentWrites } from './recent-writes.js'

export interface Journal {
  readonly recent: RecentWrites
  /** Whether the group is in the journal now, and on disk. */
  append(events: readonly StoreEvent[], bytes: number): boolean | Promise<boolean>
  /** The recent writes are in the tables. */
  emptied(): void
  close(): void
}

/** How much is put into the tables in one transaction: it is prepared in the event loop. */
const MAX_EVENTS = 256
const MAX_BYTES = 1024 * 1024
/** The most space that this takes. Each value, and each one that is replaced, may begin and end within a page of its own. */
const NEED: Need = { entries: MAX_EVENTS, large: [MAX_BYTES + 2 * MAX_EVENTS * 2 * 4096], urgent: false }

export function createJournal(file: string, diskSpace: DiskSpace, pace: CommitPace): Journal {
  const recent = createRecentWrites()
  const records = createJournalFile(file)

  function appendAtOnce(events: readonly StoreEvent[], bytes: number): boolean {
    const begin = performance.now()
    try {
      records.appendAtOnce(events)
      recent.add(events, bytes)
      return true
    } catch {
      // The transaction that follows finds out what the matter is.
      return false
    } finally {
      pace.took(performance.now() - begin)
    }
  }

  async function append(events: readonly StoreEvent[], bytes: number): Promise<boolean> {
    try {
      await records.append(events)
      recent.add(events, bytes)
      return true
    } catch {
      return false
    }
  }

  return {
    recent,
    append(events, bytes) {
      if (events.length === 0) return false
      if (recent.events.length + events.length > MAX_EVENTS || recent.bytes + bytes > MAX_BYTES) return false
      if (!diskSpace.keepFree(NEED)) return false
      return pace.isAtOnce(events.length, bytes) ? appendAtOnce(events, bytes) : append(events, bytes)
    },
    emptied() {
      recent.clear()
      records.rewind()
    },
    close: () => records.close(),
  }
}

/** Writes are not kept in a journal. */
export const noJournal = (): Journal => ({
  recent: createRecentWrites(),
  append: () => false,
  emptied() {},
  close() {},
})

/** Puts what is only in the journal into the tables: the writes before the process or the machine ended. */
export async function replayJournal(tables: Tables, writes: readonly JournaledWrite[]): Promise<void> {
  const state = readState(tables)
  const missing = writes.filter(({ revision }) => revision > state.revision)
  const [first] = missing
  if (!first) return
  if (first.revision !== state.revision + 1) {
    const why = `it ends with revision ${state.revision}, and the file journal goes on with ${first.revision}`
    throw corrupt(`${why}; if the data file comes from a backup, remove the journal`)
  }
  const entries = new Map<string, Entry | undefined>()
  const events = missing.map(({ revision, key, value, replaced }): StoreEvent => {
    const previous = entries.has(key) ? entries.get(key) : currentEntry(tables, key)
    if ((previous?.revision ?? 0) !== replaced) throw corrupt(`the journal replaces revision ${replaced} of ${key}`)
    entries.set(key, value && { key, value, revision })
    return { revision, key, value, previous }
  })
  await tables.root.batch(() => putEvents(tables, events, { ...state, revision: events.at(-1)!.revision }))
}
