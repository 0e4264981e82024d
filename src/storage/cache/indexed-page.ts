// A page of the entries that have certain attributes, found by the index of a reflector.
import { mergeKeys } from '../common/merge-keys.js'
import { endOfPrefix } from '../keys.js'
import type { RangeOptions, ReadAt, Revision, Store } from '../store.js'
import { changedSince, keysBetween } from './changed-entries.js'
import { type AttributeReader, type AttributeTerm, type CachedEntry, hasTerm } from './entry-attributes.js'
import { type Freshness, within } from './freshness.js'
import type { Reflector } from './reflector.js'

export interface IndexedPage<F> {
  readonly revision: Revision
  readonly entries: readonly CachedEntry<F>[]
  /** 0 or 1: whether there are more. */
  readonly remaining: number
  /** Every entry has all terms. */
  readonly isSelected: boolean
}

/**
 * Undefined if every entry must be examined: the index is not complete in time, it has none of the terms, or the revision is
 * older than the window of events.
 */
export async function readIndexedPage<F>(
  store: Store,
  attributeReader: AttributeReader<F>,
  { index: indexOf, window, state, freshness }: Reflector<F>,
  prefix: string,
  { at = 'latest', limit = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, startAfter }: RangeOptions,
  terms: readonly AttributeTerm[],
  waitTimeout: number,
): Promise<IndexedPage<F> | undefined> {
  // Labels can be read without decoding the whole entry, so that their index is the cheaper one.
  const build = indexOf(terms.some(({ source }) => source === 'labels') ? 'labels' : 'indexedFields')
  // To examine all entries would take as long as the index does.
  if (!build.index) await within(waitTimeout, build.finished)
  const { index } = build
  if (!index || !(state || store.getNow) || !(await isReached(freshness, at))) return undefined
  // From here on nothing may wait: the index, the window and the entries must not change.
  const revision = typeof at === 'object' && 'exactly' in at ? at.exactly : window.revision
  const changed = changedSince(window, revision)
  const start = startAfter === undefined ? prefix : `${startAfter}\0`
  const end = endOfPrefix(prefix)
  const found = changed && index.find(terms, start, end)
  if (!found) return undefined
  const isSelected = found.isExact
  const entryOf = (key: string): CachedEntry<F> | undefined => {
    if (changed.has(key)) return selected(changed.get(key), terms)
    if (state) return state.get(key)
    const entry = store.getNow!(key, { exactly: revision })
    return entry && attributeReader.entry(entry)
  }
  const entries: CachedEntry<F>[] = []
  let bytes = 0
  for (const key of mergeKeys([found.keys, keysBetween(changed, start, end)])) {
    const entry = entryOf(key)
    if (!entry) continue
    if (entries.length === limit || bytes >= maxBytes) return { revision, entries, remaining: 1, isSelected }
    entries.push(entry)
    bytes += entry.value.length
  }
  return { revision, entries, remaining: 0, isSelected }
}

function isReached(freshness: Freshness, at: ReadAt): boolean | Promise<boolean> {
  if (at === 'any') return true
  if (at === 'latest') return freshness.latest()
  return freshness.reach('exactly' in at ? at.exactly : at.notOlderThan)
}

/** An entry whose attributes cannot be read is passed on, so that the reader fails. */
function selected<F>(entry: CachedEntry<F> | undefined, terms: readonly AttributeTerm[]): CachedEntry<F> | undefined {
  try {
    return entry && terms.every(term => hasTerm(entry, term)) ? entry : undefined
  } catch {
    return entry
  }
}
