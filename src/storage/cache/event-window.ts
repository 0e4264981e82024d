// The recent events under a prefix, bounded by number and by bytes: the log that all watchers of a cache read.

import type { EventLog } from '../common/watchers.js'
import { StorageError } from '../storage-error.js'
import type { Revision, StoreEvent } from '../store.js'

export interface WindowLimits {
  readonly events: number
  readonly bytes: number
}

export interface EventWindow<E extends StoreEvent> extends EventLog<E> {
  /** Events up to here may be discarded; every later one is available. */
  readonly forgotten: Revision
  /** Appends an event. Returns true if older ones were discarded. */
  append(event: E): boolean
  /** Notes that there are no more events up to this revision. */
  advance(revision: Revision): void
  readonly happened: Revision
  /** Notes that the store has reached this revision, whether or not all events up to it have arrived. */
  noteHappened(revision: Revision): void
}

/** The part of a full window that trimming keeps, so that trimming is rare. */
const KEEP = 3 / 4

/** An event's approximate memory beside its bytes. */
const EVENT_BYTES = 256

export function createEventWindow<E extends StoreEvent>(from: Revision, limits: WindowLimits): EventWindow<E> {
  const events: E[] = []
  let bytes = 0
  let forgotten = from
  let revision = from
  let happened = from

  /** Discards the oldest events, but never the newest one, and never a part of a revision. */
  function trim(): void {
    let cut = 0
    while (cut < events.length - 1 && (events.length - cut > limits.events * KEEP || bytes > limits.bytes * KEEP)) {
      bytes -= bytesOf(events[cut++]!)
    }
    while (cut > 0 && cut < events.length && events[cut]!.revision === events[cut - 1]!.revision) {
      bytes -= bytesOf(events[cut++]!)
    }
    if (cut > 0) forgotten = events[cut - 1]!.revision
    events.splice(0, cut)
  }

  /** The index of the first event after a revision. */
  function firstAfter(after: Revision): number {
    let low = 0
    let high = events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (events[middle]!.revision <= after) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    get revision() {
      return revision
    },
    get forgotten() {
      return forgotten
    },

    get happened() {
      return Math.max(happened, revision)
    },

    noteHappened(to) {
      if (to > happened) happened = to
    },

    append(event) {
      events.push(event)
      bytes += bytesOf(event)
      revision = event.revision
      if (events.length <= limits.events && bytes <= limits.bytes) return false
      const before = forgotten
      trim()
      return forgotten > before
    },

    advance(to) {
      if (to > revision) revision = to
    },

    read(after, limit) {
      if (after < forgotten) throw slowWatcher(after, forgotten)
      const start = firstAfter(after)
      let end = Math.min(start + limit, events.length)
      // Readers continue after a revision, so a revision must be read completely.
      while (end > start && end < events.length && events[end]!.revision === events[end - 1]!.revision) end++
      return { events: events.slice(start, end), isLast: end === events.length }
    },
  }
}

export const slowWatcher = (after: Revision, forgotten: Revision): StorageError =>
  new StorageError(
    'slow-watcher',
    `the watcher did not keep up: it has events up to revision ${after}, and those up to ${forgotten} are no longer held for it`,
    forgotten,
  )

const bytesOf = (event: StoreEvent): number =>
  EVENT_BYTES + event.key.length + (event.value?.byteLength ?? 0) + (event.previous?.value.byteLength ?? 0)
