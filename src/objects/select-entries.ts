// Entries that a request selects, in its version. What is stored in that version is selected by what is kept beside
// each entry; what is not must be converted first, since other versions have other fields, and a webhook may have put
// other labels on it.

import { type Awaitable, andThen } from '../base/awaitable.js'
import type { Cancellation } from '../base/cancellation.js'
import { type VersionedKind } from '../kinds/kind.js'
import type { ObjectEntry } from './object-store.js'
import { isInVersion, type ObjectView, viewEntries } from './object-view.js'
import type { Selection } from './selection.js'

/** Beside each entry what is shown of it; nothing for those that are not selected. */
export type ViewedEntries = readonly (ObjectView | undefined)[]

/** A promise only where others convert. */
export function viewSelected(
  served: VersionedKind,
  selection: Selection,
  entries: readonly ObjectEntry[],
  cancellation: Cancellation | undefined,
): Awaitable<ViewedEntries> {
  if (selection.everything) return viewEntries(served, entries, cancellation)
  const kept: ObjectEntry[] = []
  const places: number[] = []
  const others = new Set<number>()
  for (const [at, entry] of entries.entries()) {
    const isReady = isInVersion(served, entry)
    if (!(isReady ? selection.matches(entry) : selection.mayMatch(entry))) continue
    if (!isReady) others.add(at)
    kept.push(entry)
    places.push(at)
  }
  return andThen(viewEntries(served, kept, cancellation), shown => {
    const all = Array.from<ObjectView | undefined>({ length: entries.length })
    for (const [i, each] of shown.entries()) {
      const at = places[i]!
      if (!others.has(at) || selection.matchesObject(each.value())) all[at] = each
    }
    return all
  })
}
