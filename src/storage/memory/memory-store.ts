// A store that keeps everything in memory, for tests and for `--storage=memory`.
// Each key has its versions, newest last; the log has the events since the last compaction.

import { createOrderedMap } from '../common/ordered-map.js'
import { createWatchers } from '../common/watchers.js'
import {
  checkExpected,
  checkKey,
  checkRange,
  checkReadAt,
  checkRevision,
  checkTarget,
  checkValue,
  endOfPrefix,
} from '../keys.js'
import { closed, compacted, futureRevision, guardChanged } from '../storage-error.js'
import type { Entry, Guard, ReadAt, Revision, Store, StoreEvent, WriteResult } from '../store.js'

/** The content of a key from a revision on; no entry if it was deleted. */
interface Version {
  readonly revision: Revision
  readonly entry: Entry | undefined
}

export function createMemoryStore(): Store {
  const versions = createOrderedMap<Version[]>()
  const current = createOrderedMap<Entry>()
  /** The events after `forgotten`, one per revision, so that the index in the list follows from the revision. */
  let events: StoreEvent[] = []
  let forgotten: Revision = 0
  let revision: Revision = 0
  let isClosed = false

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
    return versions.get(key)?.findLast(version => version.revision <= asOf)?.entry
  }

  function getNow(key: string, at: ReadAt = 'latest'): Entry | undefined {
    checkKey(key)
    return entryAt(key, revisionFor(at))
  }

  /** Applies a write and delivers it to watchers synchronously. */
  function write(key: string, value: Uint8Array | undefined, expected: Revision, guard?: Guard): WriteResult {
    checkOpen()
    checkKey(key)
    if (guard && (current.get(guard.key)?.revision ?? 0) !== guard.revision) throw guardChanged(guard.key)
    const previous = current.get(key)
    if ((previous?.revision ?? 0) !== expected) return { done: false, current: previous }
    // A watcher's sink may write during delivery, so `revision` can be higher afterwards.
    const at = ++revision
    const entry = value && { key, value: Buffer.from(value), revision: at }
    if (entry) current.set(key, entry)
    else current.delete(key)
    const history = versions.get(key)
    if (history) history.push({ revision: at, entry })
    else versions.set(key, [{ revision: at, entry }])
    const event = { revision: at, key, value: entry?.value, previous }
    events.push(event)
    watchers.publish([event])
    return { done: true, revision: at }
  }

  function checkOpen(): void {
    if (isClosed) throw closed()
  }

  return {
    embedded: true,

    async revision() {
      checkOpen()
      return revision
    },

    get: async (key, at) => getNow(key, at),
    getNow,

    async range(prefix, options = {}) {
      checkRange(prefix, options)
      const { at = 'latest', limit = Number.POSITIVE_INFINITY, startAfter } = options
      const asOf = revisionFor(at)
      const end = endOfPrefix(prefix)
      // The smallest string after a key is the key with a NUL appended.
      const start = startAfter === undefined ? prefix : `${startAfter}\0`
      const source = asOf === revision ? current : versions
      const entries: Entry[] = []
      let remaining = 0
      for (const key of source.keys(start, end)) {
        const entry = entryAt(key, asOf)
        if (!entry) continue
        if (entries.length < limit) entries.push(entry)
        else if (source === current) {
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
        const oldest = history.findLastIndex(version => version.revision <= to)
        history.splice(0, history[oldest]?.entry ? oldest : oldest + 1)
        if (history.length === 0) versions.delete(key)
      }
      events = events.slice(to - forgotten)
      forgotten = to
    },

    async check() {
      checkOpen()
    },

    async close() {
      if (isClosed) return
      isClosed = true
      watchers.endAll(closed())
    },
  }
}
