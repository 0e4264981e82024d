// The writes that are acknowledged and in the journal, but not in LMDB's tables yet: what readers must see on top of them.
import { compareKeys } from '../keys.js'
import type { Entry, Revision, StoreEvent } from '../store.js'

export interface RecentWrites {
  /** Oldest first, with consecutive revisions. Writes are added to this array; once they are in the tables, there is a new one. */
  readonly events: readonly StoreEvent[]
  /** Of their values, and of replaced ones. */
  readonly bytes: number
  /** What the last of these writes of a key, up to a revision, has left; undefined if there is none of that key. */
  find(key: string, asOf?: Revision): { readonly entry: Entry | undefined } | undefined
  add(events: readonly StoreEvent[], bytes: number): void
  /** They are in the tables. */
  clear(): void
}

export function createRecentWrites(): RecentWrites {
  let events: StoreEvent[] = []
  let bytes = 0
  const ofKey = new Map<string, StoreEvent[]>()
  return {
    get events() {
      return events
    },
    get bytes() {
      return bytes
    },
    find(key, asOf = Number.POSITIVE_INFINITY) {
      const last = ofKey.get(key)?.findLast(({ revision }) => revision <= asOf)
      return last && { entry: entryOf(last) }
    },
    add(added, size) {
      bytes += size
      for (const event of added) {
        events.push(event)
        const known = ofKey.get(event.key)
        if (known) known.push(event)
        else ofKey.set(event.key, [event])
      }
    },
    clear() {
      if (events.length === 0) return
      events = []
      bytes = 0
      ofKey.clear()
    },
  }
}

/** A key that recent writes have changed. */
export interface ChangedKey {
  readonly key: string
  /** What the last write has left. */
  readonly entry: Entry | undefined
  /** Whether there was an entry before. */
  readonly existed: boolean
}

/** The changes of events from `start` to before `end`, of those after one revision and up to another, in the order of keys. */
export function changesWithin(
  events: readonly StoreEvent[],
  start: string,
  end: string,
  after: Revision,
  upTo: Revision,
): readonly ChangedKey[] {
  const changes = new Map<string, ChangedKey>()
  for (const event of events) {
    const { key, revision, previous } = event
    if (revision <= after || revision > upTo || compareKeys(key, start) < 0 || compareKeys(key, end) >= 0) continue
    const existed = changes.get(key)?.existed ?? previous !== undefined
    changes.set(key, { key, entry: entryOf(event), existed })
  }
  return [...changes.values()].toSorted((a, b) => compareKeys(a.key, b.key))
}

/** Entries in the order of keys, with the changes put in. */
export function* withChanges(entries: Iterable<Entry>, changes: readonly ChangedKey[]): Generator<Entry, void> {
  let next = 0
  for (const entry of entries) {
    for (; next < changes.length && compareKeys(changes[next]!.key, entry.key) < 0; next++) {
      const { entry: changed } = changes[next]!
      if (changed) yield changed
    }
    if (changes[next]?.key !== entry.key) yield entry
    else {
      const { entry: changed } = changes[next++]!
      if (changed) yield changed
    }
  }
  for (; next < changes.length; next++) {
    const { entry } = changes[next]!
    if (entry) yield entry
  }
}

const entryOf = ({ key, value, revision }: StoreEvent): Entry | undefined => value && { key, value, revision }
