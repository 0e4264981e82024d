// Filters the events of successive streams: which of them are new, and up to which revision all have arrived.
//
// A new stream begins after the last complete revision. If the previous stream broke off within a revision (etcd splits
// long responses into fragments, and a transaction may write many keys), its first events are sent again.
import type { Revision } from '../store.js'
import type { WatchEvent } from './client/messages.js'

export interface EventIntake {
  /** All events up to here have arrived. A new stream begins after it. */
  readonly received: Revision
  /** Some events of a later revision have arrived, but not all of them. */
  readonly within: boolean
  /** A new stream begins. */
  begin(): void
  /** Takes a response, or a fragment of one, and returns the events that are new. */
  take(events: readonly WatchEvent[], isFragment: boolean): WatchEvent[]
  /** etcd reported that all events up to this revision were sent. */
  advance(revision: Revision): void
}

export function createEventIntake(after: Revision): EventIntake {
  let received = after
  /** The revision being received, how many of its events were taken, and how many arrived on this stream. */
  let current = after
  let taken = 0
  let seen = 0

  return {
    get received() {
      return received
    },

    get within() {
      return current > received
    },

    begin() {
      seen = 0
    },

    take(events, isFragment) {
      const fresh: WatchEvent[] = []
      for (const event of events) {
        const revision = event.kv?.modRevision ?? 0
        if (revision <= received) continue
        if (revision !== current) {
          received = Math.max(received, current) // an event of a later revision: the earlier one is complete
          current = revision
          taken = 0
          seen = 0
        }
        if (++seen <= taken) continue
        taken = seen
        fresh.push(event)
      }
      if (!isFragment) received = Math.max(received, current)
      return fresh
    },

    advance(revision) {
      received = Math.max(received, revision)
    },
  }
}
