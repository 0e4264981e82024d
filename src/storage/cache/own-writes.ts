// What this process has written, or found when a write was refused, and its watch has not delivered yet. Together with the entries in memory, it shows every
// write that a caller of this process knows to be done, without a read of the store.
import type { Revision } from '../store.js'
import type { CachedEntry } from './entry-attributes.js'

export interface OwnWrites<F> {
  /** `entry` is undefined for a delete. */
  note(key: string, revision: Revision, entry: CachedEntry<F> | undefined): void
  /** The last write of a key; undefined if its event has arrived. */
  find(key: string): OwnWrite<F> | undefined
  /** An event of a key has arrived. */
  arrived(key: string, revision: Revision): void
  /** All events up to a revision have arrived. */
  reached(revision: Revision): void
  clear(): void
}

export interface OwnWrite<F> {
  readonly revision: Revision
  readonly entry: CachedEntry<F> | undefined
}

export function createOwnWrites<F>(): OwnWrites<F> {
  const writes = new Map<string, OwnWrite<F>>()
  return {
    note(key, revision, entry) {
      // Answers to concurrent writes may be read in another order.
      if (revision > (writes.get(key)?.revision ?? 0)) writes.set(key, { revision, entry })
    },
    find: key => writes.get(key),
    arrived(key, revision) {
      const write = writes.get(key)
      if (write && write.revision <= revision) writes.delete(key)
    },
    reached(revision) {
      for (const [key, write] of writes) if (write.revision <= revision) writes.delete(key)
    },
    clear: () => writes.clear(),
  }
}
