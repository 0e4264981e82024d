// The embedded store: one LMDB file and a journal in a data directory; each write is on disk before it is acknowledged.
// layout.ts describes the tables, journal.ts the journal, writer.ts the commits.

import { createLastChanges } from '../common/last-changes.js'
import { ownCopy } from '../common/own-copy.js'
import { createWatchers, type LogSegment } from '../common/watchers.js'
import { checkExpected, checkKey, checkRange, checkReadAt, checkRevision, checkTarget, checkValue } from '../keys.js'
import { closed, compacted, futureRevision, StorageError } from '../storage-error.js'
import type { Entry, Guard, ReadAt, Revision, Store, StoreEvent, WriteResult } from '../store.js'
import { causeOf } from './commit-failure.js'
import { createCommitPace } from './commit-pace.js'
import { createCompaction } from './compaction.js'
import { type DataDirectory, openDataDirectory, unreadable } from './disk/data-directory.js'
import { createDiskSpace } from './disk/disk-space.js'
import { readJournal } from './disk/journal-file.js'
import { currentEntry, entryAt, eventsBetween } from './history.js'
import { createJournal, findWrites, noJournal } from './journal.js'
import { openTables, randomId, readFailure, readState, STATE, type Tables } from './layout.js'
import { createPageReader } from './pages.js'
import { createPrefixCounts } from './prefix-counts.js'
import { createWriter, type WriterFiles } from './writer.js'

export interface LmdbOptions {
  /** Whether writes are acknowledged before they are on disk. They survive the process, but not the machine. */
  readonly noSync?: boolean | undefined
}

/** Opens the store in a directory, which is created if it is missing or empty. */
export async function openLmdbStore(path: string, { noSync }: LmdbOptions = {}): Promise<Store> {
  const directory = openDataDirectory(path, { noSync })
  let tables: Tables | undefined
  try {
    tables = openTables(directory.file, { noSync })
    if (directory.isNew) await initialize(tables, directory)
    const found = findWrites(tables, readJournal(directory.journal, true))
    directory.upgrade()
    const [diskSpace, pace] = [await createDiskSpace(directory.file, tables), createCommitPace()]
    // Without syncs, a transaction is as cheap as a record of the journal.
    const journal = noSync ? noJournal(found) : createJournal(directory.journal, found, diskSpace, pace)
    return createLmdbStore({ tables, journal, diskSpace, pace }, directory)
  } catch (cause) {
    await tables?.root.close()
    directory.release()
    throw unreadable(path, `${directory.file}: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
}

/** Nothing is acknowledged before the directory is marked complete; its creation may have been interrupted anywhere. */
async function initialize(tables: Tables, directory: DataDirectory): Promise<void> {
  if (!tables.meta.get(STATE)) await tables.meta.put(STATE, { revision: 0, compacted: 0, id: randomId(), epoch: 0 })
  directory.markComplete()
}

function createLmdbStore(files: WriterFiles, directory: DataDirectory): Store {
  const { tables, journal, diskSpace } = files
  const { recent } = journal
  const counts = createPrefixCounts()
  const lastChanges = createLastChanges()
  let closing: Promise<void> | undefined

  const writer = createWriter(files, {
    nextMaintenance: writes => compaction.nextStep(writes),
    // Watchers and readers of old revisions end; that is better than a disk that cannot be emptied.
    needSpace: () => void compaction.request(writer.state.revision).catch(() => {}),
    reopen,
    committed(events) {
      counts.committed(events)
      lastChanges.committed(events)
      watchers.publish(events)
    },
  })

  const watchers = createWatchers<StoreEvent>({
    get revision() {
      return writer.state.revision
    },
    read(after, limit) {
      const { revision, compacted: oldest } = writer.state
      if (after < oldest) throw compacted(after, oldest)
      try {
        return eventsAfter(after, revision, limit)
      } catch (error) {
        throw readFailure(error)
      }
    },
  })

  /** The events after a revision up to another: those of the tables, then those that only the journal has. */
  function eventsAfter(after: Revision, upTo: Revision, limit: number): LogSegment<StoreEvent> {
    const { events } = recent
    const inTables = upTo - events.length
    if (after < inTables) {
      const segment = eventsBetween(tables, after, inTables, limit)
      return { ...segment, isLast: segment.isLast && events.length === 0 }
    }
    const start = after - inTables
    return { events: events.slice(start, start + limit), isLast: start + limit >= events.length }
  }

  const compaction = createCompaction({
    tables,
    state: () => writer.state,
    wake: writer.wake,
    forgotten: oldest => watchers.dropBehind(oldest, after => compacted(after, oldest)),
  })

  const pages = createPageReader({ tables, recent, counts, revision: () => writer.state.revision, checkOpen })

  let isReopening = false

  function checkOpen(): void {
    if (closing) throw closed()
    if (isReopening) throw new StorageError('unavailable', 'the data file is being opened again after a disk failure')
  }

  async function reopen(): Promise<void> {
    isReopening = true
    try {
      await pages.idle()
      await tables.root.close()
      Object.assign(tables, openTables(directory.file))
    } finally {
      isReopening = false
      lastChanges.clear()
    }
    // What was read now may be only in memory. A commit that succeeds makes it durable.
    try {
      await tables.root.batch(() => void tables.meta.put(STATE, readState(tables)))
    } catch (error) {
      throw await causeOf(error)
    }
  }

  function revisionNow(): Revision {
    checkOpen()
    return writer.state.revision
  }

  /** The revision at which a read takes place. */
  function revisionFor(at: ReadAt): Revision {
    const { revision, compacted: oldest } = writer.state
    if (typeof at === 'string') return revision
    const requested = 'exactly' in at ? at.exactly : at.notOlderThan
    if (requested > revision) throw futureRevision(requested, revision)
    if ('notOlderThan' in at) return revision
    if (requested < oldest) throw compacted(requested, oldest)
    return requested
  }

  function get(key: string, asOf: Revision): Entry | undefined {
    const written = recent.find(key, asOf)
    if (written) return written.entry
    try {
      const entry = currentEntry(tables, key)
      // LMDB may show a group of writes that is not acknowledged yet.
      if (entry ? entry.revision <= asOf : asOf === writer.state.revision && !writer.isChanging(key)) return entry
      return entryAt(tables, key, asOf)
    } catch (error) {
      throw readFailure(error)
    }
  }

  function getNow(key: string, at: ReadAt = 'latest'): Entry | undefined {
    checkKey(key)
    checkReadAt(at)
    checkOpen()
    return get(key, revisionFor(at))
  }

  /** `expected` is 0 for a create, and only then. */
  function write(
    key: string,
    value: Uint8Array | undefined,
    expected: Revision,
    creates: boolean,
    guard?: Guard,
  ): Promise<WriteResult> {
    try {
      if (value) checkValue(value)
      if (!creates) checkExpected(expected)
      checkOpen()
      checkKey(key)
    } catch (error) {
      return Promise.reject(error)
    }
    return writer.write(key, value && ownCopy(value), expected, guard)
  }

  async function close(): Promise<void> {
    compaction.stop()
    writer.stop()
    await writer.idle()
    writer.emptyJournal()
    await writer.idle()
    watchers.endAll(closed())
    await pages.idle()
    journal.close()
    await diskSpace.close()
    await tables.root.close()
    directory.release()
  }

  // Continues removals that remained when the directory was last closed.
  writer.wake()

  return {
    embedded: true,

    revision: async () => revisionNow(),
    revisionNow,

    get: async (key, at) => getNow(key, at),
    getNow,
    // After a failed commit it is not certain which events were noted, until one succeeds.
    lastChange: prefix => (writer.hasFailed ? undefined : lastChanges.of(prefix, writer.state.revision)),

    async range(target, options = {}) {
      checkRange(target, options)
      checkOpen()
      return pages.read(target, options, revisionFor(options.at ?? 'latest'))
    },

    create: (key, value, guard) => write(key, value, 0, true, guard),
    update: (key, value, expected, guard) => write(key, value, expected, false, guard),
    delete: (key, expected) => write(key, undefined, expected, false),

    watch(target, after, sink) {
      checkOpen()
      checkTarget(target)
      checkRevision(after)
      return watchers.watch(target, after, sink)
    },

    async compact(to) {
      checkRevision(to)
      checkOpen()
      const { revision, compacted: oldest } = writer.state
      if (to > revision) throw futureRevision(to, revision)
      if (to > oldest) await compaction.request(to)
      else compaction.resume()
    },

    async check() {
      checkOpen()
      // A commit shows whether the disk works again.
      if (writer.hasFailed) await compaction.request(writer.state.compacted)
    },

    close() {
      closing ??= close()
      return closing
    },
  }
}
