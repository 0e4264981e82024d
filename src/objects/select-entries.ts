// The entries that a request selects, in its version. An entry that is stored in that version is selected by its
// attributes. Others are converted first, since other versions have other fields, and a webhook may change labels.

import { type Awaitable, andThen } from '../base/awaitable.js'
import type { Cancellation } from '../base/cancellation.js'
import type { VersionedKind } from '../kinds/kind.js'
import type { ObjectEntry } from './object-attributes.js'
import type { ObjectView, ObjectViews } from './object-view.js'
import type { Selection } from './selection.js'

/** A view for each entry; undefined for those that are not selected. */
export type ViewedEntries = readonly (ObjectView | undefined)[]

/** A promise only where a webhook converts. `hasTerms`: the entries have all terms of the selection. */
export function viewSelected(
  views: ObjectViews,
  versioned: VersionedKind,
  selection: Selection,
  entries: readonly ObjectEntry[],
  cancellation: Cancellation | undefined,
  hasTerms = false,
): Awaitable<ViewedEntries> {
  if (selection.everything) return views.viewAll(versioned, entries, cancellation)
  const isKnown = hasTerms && selection.isAllTerms
  const kept: ObjectEntry[] = []
  const positions: number[] = []
  const converted = new Set<number>()
  for (const [at, entry] of entries.entries()) {
    const isInVersion = views.isInVersion(versioned, entry)
    if (!(isInVersion ? isKnown || selection.matches(entry) : selection.mayMatch(entry))) continue
    if (!isInVersion) converted.add(at)
    kept.push(entry)
    positions.push(at)
  }
  return andThen(views.viewAll(versioned, kept, cancellation), viewed => {
    const all = Array.from<ObjectView | undefined>({ length: entries.length })
    for (const [i, view] of viewed.entries()) {
      const at = positions[i]!
      if (!converted.has(at) || selection.matchesObject(view.value())) all[at] = view
    }
    return all
  })
}
