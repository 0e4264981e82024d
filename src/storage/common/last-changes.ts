// The revision of the latest write under a prefix, of prefixes that were asked for before.
import { prefixesOf } from '../keys.js'
import type { Revision, StoreEvent } from '../store.js'

export interface LastChanges {
  /** A revision since which nothing under the prefix was written. At first that is the latest one, `now`. */
  of(prefix: string, now: Revision): Revision
  /** Notes the events of the latest revisions. */
  committed(events: readonly StoreEvent[]): void
  /** Forgets everything, where it is not certain that all events were noted. */
  clear(): void
}

const MAX_PREFIXES = 1000

export function createLastChanges(): LastChanges {
  const changes = new Map<string, Revision>()
  return {
    of(prefix, now) {
      const known = changes.get(prefix)
      if (known !== undefined) return known
      if (changes.size >= MAX_PREFIXES) changes.delete(changes.keys().next().value!)
      changes.set(prefix, now)
      return now
    },
    committed(events) {
      if (changes.size === 0) return
      for (const { key, revision } of events) {
        for (const prefix of prefixesOf(key)) if (changes.has(prefix)) changes.set(prefix, revision)
      }
    },
    clear: () => changes.clear(),
  }
}
