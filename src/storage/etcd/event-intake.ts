// Which of the events that come on one stream after another are new, and up to which revision all have come.
//
// A new stream begins after the last revision that is complete. Where the one before broke off within a revision (etcd
// cuts long responses into fragments, and a transaction may write many keys), the first events come a second time.
import type { Revision } from '../store.js'
import type { WatchEvent } from './messages.js'

export interface EventIntake {
  /** Every event up to here has come. A new stream begins after it. */
  readonly received: Revision
  /** Some events of a later revision have come, and not all of them. */
  readonly within: boolean
  /** A new stream begins. */
  begin(): void
  /** Takes a response, or a fragment of one that goes on, and answers with those events that are new. */
  take(events: readonly WatchEvent[], goesOn: boolean): WatchEvent[]
  /** etcd says that there is nothing up to this revision that has not come. */
  advance(revision: Revision): void
}

export function createEventIntake(after: Revision): EventIntake {
  let received = after
  /** The revision whose events are coming, how many of them were taken, and how many have come on this stream. */
  let current = after
  let taken = 0
  let come = 0

  return {
    get received() {
      return received
    },

    get within() {
      return current > received
    },

    begin() {
      come = 0
    },

    take(events, goesOn) {
      const fresh: WatchEvent[] = []
      for (const event of events) {
        const revision = event.kv?.modRevision ?? 0
        if (revision <= received) continue
        if (revision !== current) {
          received = Math.max(received, current) // where the next begins, all of the last have come
          current = revision
          taken = 0
          come = 0
        }
        if (++come <= taken) continue
        taken = come
        fresh.push(event)
      }
      if (!goesOn) received = Math.max(received, current)
      return fresh
    },

    advance(revision) {
      received = Math.max(received, revision)
    },
  }
}
