// A page of the entries that have certain attributes, found by the index of a reflector.
import { mergeKeys } from '../common/merge-keys.js'
import { endOfPrefix } from '../keys.js'
import type { RangeOptions, ReadAt, Revision, Store } from '../store.js'
import type { AttributeIndex } from './attribute-index.js'
import { changedSince, keysBetween } from './changed-entries.js'
import { type AttributeReader, type AttributeTerm, type CachedEntry, hasTerm } from './entry-attributes.js'
import { type Freshness, within } from './freshness.js'
import type { IndexBuild } from './index-build.js'
import type { Reflector } from './reflector.js'

export interface IndexedPage<F> {
  readonly revision: Revision
  readonly entries: readonly CachedEntry<F>[]
  /** 0 or 1: whether there are more. */
  readonly remaining: number
  /** Every entry has all terms. */
  readonly isSelected: boolean
}

/** What is asked of an index. */
export interface IndexQuery<F> {
  readonly store: Store
  readonly attributeReader: AttributeReader<F>
  readonly reflector: Reflector<F>
  readonly prefix: string
  readonly options: RangeOptions & { readonly readsAll?: boolean | undefined }
  readonly terms: readonly AttributeTerm[]
}

/**
 * Undefined if every entry must be examined: the index is not complete in time, it has none of the terms, or the revision is
 * older than the window of events.
 */
export async function readIndexedPage<F>(
  query: IndexQuery<F>,
  waitTimeout: number,
): Promise<IndexedPage<F> | undefined> {
  const { reflector, options, terms } = query
  const build = buildOf(reflector, terms)
  const end = endOfPrefix(query.prefix)
  // The later pages of a read do not wait once more.
  if (options.startAfter === undefined) await waitFor(build, query, waitTimeout)
  const index = build.indexBefore(end)
  if (!index || !(await isReached(reflector.freshness, options.at))) return undefined
  return build.indexBefore(end) && pageOf(query, index)
}

/** Where the index has reached the first of the entries, to examine all of them would take as long as it does. */
async function waitFor<F>(
  build: IndexBuild<F>,
  { prefix, options }: IndexQuery<F>,
  waitTimeout: number,
): Promise<void> {
  const end = endOfPrefix(prefix)
  if (build.hasReached(end)) return
  const reached = build.whenReached(end)
  await within(waitTimeout, reached)
  if (options.readsAll && build.hasReached(prefix)) await reached
}

/** The same without waiting; undefined also if that would be necessary. */
export function readIndexedPageNow<F>(query: IndexQuery<F>): IndexedPage<F> | undefined {
  const { reflector, options, terms } = query
  const index = buildOf(reflector, terms).indexBefore(endOfPrefix(query.prefix))
  if (!index || !reflector.freshness.latestNow()) return undefined
  const { at } = options
  const isNow = typeof at !== 'object' || ('notOlderThan' in at && at.notOlderThan <= reflector.window.revision)
  return isNow ? pageOf(query, index) : undefined
}

/** Labels can be read without decoding the whole entry, so that their index is the cheaper one. */
const buildOf = <F>({ index }: Reflector<F>, terms: readonly AttributeTerm[]): IndexBuild<F> =>
  index(terms.some(({ source }) => source === 'labels') ? 'labels' : 'indexedFields')

/** Waits for nothing: the index, the window and the entries must not change meanwhile. */
function pageOf<F>(
  { store, attributeReader, reflector, prefix, options, terms }: IndexQuery<F>,
  index: AttributeIndex<F>,
): IndexedPage<F> | undefined {
  const { window, state } = reflector
  if (!state && !store.getNow) return undefined
  const { at, limit = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, startAfter } = options
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

function isReached(freshness: Freshness, at: ReadAt = 'latest'): boolean | Promise<boolean> {
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
