// A store that keeps everything in memory, for tests and for `--storage=memory`.
// The log has the events since the last compaction, and keys that were written since then have their versions.

import { createLastChanges } from '../common/last-changes.js'
import { createOrderedMap } from '../common/ordered-map.js'
import { ownCopy } from '../common/own-copy.js'
import { createWatchers } from '../common/watchers.js'
import {
  checkExpected,
  checkKey,
  checkRange,
  checkReadAt,
  checkRevision,
  checkTarget,
  checkValue,
  compareKeys,
  endOfPrefix,
} from '../keys.js'
import { closed, compacted, futureRevision, guardChanged } from '../storage-error.js'
import {
  type Entry,
  eachGuard,
  type Guard,
  type ReadAt,
  type Revision,
  type Store,
  type StoreEvent,
  type WriteResult,
} from '../store.js'
import { createForkableMap, type ForkableMap } from './forkable-map.js'

/** The content of a key from a revision on; no entry if it was deleted. */
interface Version {
  readonly revision: Revision
  readonly entry: Entry | undefined
}

/** The content of a store at a moment. It never changes, and costs nothing until the store does. */
export interface MemorySnapshot {
  readonly revision: Revision
  readonly entries: ForkableMap<Entry>
}

export interface MemoryStore extends Store {
  snapshot(): MemorySnapshot
}

/**
 * With a snapshot, the store begins with its content. Its history begins there, too, so that it can begin at a later
 * revision: watches from earlier revisions are then refused as compacted.
 */
export function createMemoryStore(from?: MemorySnapshot, beginning: Revision = 0): MemoryStore {
  /** Of the keys that were written after `forgotten`. */
  const versions = createOrderedMap<Version[]>()
  const current = from?.entries.fork() ?? createForkableMap<Entry>()
  /** The events after `forgotten`, one per revision, so that the index in the list follows from the revision. */
  let events: StoreEvent[] = []
  let revision: Revision = Math.max(beginning, from?.revision ?? 0)
  let forgotten = revision
  let isClosed = false
  const lastChanges = createLastChanges()

  const watchers = createWatchers<StoreEvent>({
    get revision() {
      return revision
    },
    read(after, limit) {
      if (after < forgotten) throw compacted(after, forgotten)
      const end = after - forgotten + limit
      return { events: events.slice(after - forgotten, end), isLast: end >= events.length }
    },
  })

  /** The revision at which a read takes place. */
  function revisionFor(at: ReadAt): Revision {
    checkOpen()
    checkReadAt(at)
    if (typeof at === 'string') return revision
    const requested = 'exactly' in at ? at.exactly : at.notOlderThan
    if (requested > revision) throw futureRevision(requested, revision)
    if ('notOlderThan' in at) return revision
    if (requested < forgotten) throw compacted(requested, forgotten)
    return requested
  }

  function entryAt(key: string, asOf: Revision): Entry | undefined {
    if (asOf === revision) return current.get(key)
    const history = versions.get(key)
    return history ? history.findLast(version => version.revision <= asOf)?.entry : current.get(key)
  }

  function getNow(key: string, at: ReadAt = 'latest'): Entry | undefined {
    checkKey(key)
    return entryAt(key, revisionFor(at))
  }

  /** Applies a write and delivers it to watchers synchronously. */
  function write(key: string, value: Uint8Array | undefined, expected: Revision, guard?: Guard): WriteResult {
    checkOpen()
    checkKey(key)
    for (const each of eachGuard(guard)) {
      if ((current.get(each.key)?.revision ?? 0) !== each.revision) throw guardChanged(each.key)
    }
    const previous = current.get(key)
    if ((previous?.revision ?? 0) !== expected) return { done: false, current: previous }
    // A watcher's sink may write during delivery, so `revision` can be higher afterwards.
    const at = ++revision
    const entry = value && { key, value: ownCopy(value), revision: at }
    if (entry) current.set(key, entry)
    else current.delete(key)
    const history = versions.get(key)
    if (history) history.push({ revision: at, entry })
    else
      versions.set(key, [
        { revision: previous?.revision ?? 0, entry: previous },
        { revision: at, entry },
      ])
    const event = { revision: at, key, value: entry?.value, previous }
    events.push(event)
    lastChanges.committed([event])
    watchers.publish([event])
    return { done: true, revision: at }
  }

  /** The keys that exist, and those that were deleted after `forgotten`, in order. */
  function* keysEver(start: string, end: string): IterableIterator<string> {
    const written = versions.keys(start, end)
    let next = written.next()
    for (const key of current.keys(start, end)) {
      for (; !next.done && compareKeys(next.value, key) < 0; next = written.next()) yield next.value
      if (next.value === key) next = written.next()
      yield key
    }
    for (; !next.done; next = written.next()) yield next.value
  }

  function checkOpen(): void {
    if (isClosed) throw closed()
  }

  function revisionNow(): Revision {
    checkOpen()
    return revision
  }

  return {
    embedded: true,

    revision: async () => revisionNow(),
    revisionNow,

    get: async (key, at) => getNow(key, at),
    getNow,
    lastChange: prefix => lastChanges.of(prefix, revision),

    async range(prefix, options = {}) {
      checkRange(prefix, options)
      const {
        at = 'latest',
        limit = Number.POSITIVE_INFINITY,
        maxBytes = Number.POSITIVE_INFINITY,
        startAfter,
      } = options
      const asOf = revisionFor(at)
      const end = endOfPrefix(prefix)
      // The smallest string after a key is the key with a NUL appended.
      const start = startAfter === undefined ? prefix : `${startAfter}\0`
      const entries: Entry[] = []
      let bytes = 0
      let remaining = 0
      for (const key of asOf === revision ? current.keys(start, end) : keysEver(start, end)) {
        const entry = entryAt(key, asOf)
        if (!entry) continue
        if (entries.length < limit && bytes < maxBytes) {
          entries.push(entry)
          bytes += entry.value.length
        } else if (asOf === revision) {
          remaining = current.rank(end) - current.rank(key)
          break
        } else remaining++
      }
      return { revision: asOf, entries, remaining }
    },

    async create(key, value, guard) {
      checkValue(value)
      return write(key, value, 0, guard)
    },

    async update(key, value, expected, guard) {
      checkValue(value)
      checkExpected(expected)
      return write(key, value, expected, guard)
    },

    async delete(key, expected) {
      checkExpected(expected)
      return write(key, undefined, expected)
    },

    watch(target, after, sink) {
      checkOpen()
      checkTarget(target)
      checkRevision(after)
      return watchers.watch(target, after, sink)
    },

    async compact(to) {
      checkOpen()
      checkRevision(to)
      if (to > revision) throw futureRevision(to, revision)
      if (to <= forgotten) return
      watchers.dropBehind(to, after => compacted(after, to))
      // Only keys that were written since the last compaction have old versions.
      for (const key of new Set(events.slice(0, to - forgotten).map(event => event.key))) {
        const history = versions.get(key)!
        history.splice(
          0,
          history.findLastIndex(version => version.revision <= to),
        )
        if (history.length === 1) versions.delete(key)
      }
      events = events.slice(to - forgotten)
      forgotten = to
    },

    async check() {
      checkOpen()
    },

    snapshot() {
      checkOpen()
      return { revision, entries: current.fork() }
    },

    async close() {
      if (isClosed) return
      isClosed = true
      watchers.endAll(closed())
    },
  }
}
