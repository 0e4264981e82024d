// The entries as they were at an earlier revision, of the keys that were written since: an event has the entry that it
// replaced. With these, the latest state answers reads of an earlier one.
import { compareKeys } from '../keys.js'
import type { Revision } from '../store.js'
import type { CachedEntry, CachedEvent } from './entry-attributes.js'
import type { EventWindow } from './event-window.js'

/** By key; undefined where there was no entry. */
export type ChangedEntries<F> = ReadonlyMap<string, CachedEntry<F> | undefined>

export const NOTHING_CHANGED: ChangedEntries<never> = new Map()

/** Undefined if the window does not reach back to the revision, or has not reached it. */
export function changedSince<F>(
  window: EventWindow<CachedEvent<F>>,
  revision: Revision,
): ChangedEntries<F> | undefined {
  if (revision < window.forgotten || revision > window.revision) return undefined
  if (revision === window.revision) return NOTHING_CHANGED
  const changed = new Map<string, CachedEntry<F> | undefined>()
  for (const { key, previous } of window.read(revision, Number.POSITIVE_INFINITY).events) {
    if (!changed.has(key)) changed.set(key, previous)
  }
  return changed
}

/** The changed keys from `start` to before `end`, in order. */
export function keysBetween(changed: ChangedEntries<unknown>, start: string, end: string): string[] {
  if (changed.size === 0) return []
  const keys = [...changed.keys()].filter(key => compareKeys(key, start) >= 0 && compareKeys(key, end) < 0)
  return keys.toSorted(compareKeys)
}
