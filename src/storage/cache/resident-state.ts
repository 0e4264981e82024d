// All entries of a prefix in memory, for stores that are not embedded.

import { mergeKeys } from '../common/merge-keys.js'
import { createOrderedMap } from '../common/ordered-map.js'
import { ownCopy } from '../common/own-copy.js'
import { compareKeys, endOfPrefix } from '../keys.js'
import { StorageError } from '../storage-error.js'
import type { Entry, Page, RangeOptions, Revision, Store, StoreEvent } from '../store.js'
import { isUntransformable } from '../untransformable.js'
import { type ChangedEntries, keysBetween, NOTHING_CHANGED } from './changed-entries.js'
import type { AttributeReader, CachedEntry, CachedEvent } from './entry-attributes.js'

export interface ResidentState<F> {
  /** The revision of the last change of the state. */
  readonly changed: Revision
  get(key: string): CachedEntry<F> | undefined
  /** The entries of a prefix, now or with those as they were that have changed since, and how many more there are. */
  page(
    prefix: string,
    options: Pick<RangeOptions, 'limit' | 'maxBytes' | 'startAfter'>,
    changed?: ChangedEntries<F>,
  ): { entries: CachedEntry<F>[]; remaining: number }
  apply(event: CachedEvent<F>): void
}

/** Reads a prefix page by page, all as of one revision. */
export async function loadResidentState<F>(
  store: Store,
  prefix: string,
  pageSize: number,
  attributeReader: AttributeReader<F>,
): Promise<ResidentState<F>> {
  const entries = createOrderedMap<CachedEntry<F>>()
  let page: Page = await store.range(prefix, { limit: pageSize })
  const { revision } = page
  for (;;) {
    const unreadable = page.entries.find(({ value }) => isUntransformable(value))
    // It may be readable later, when nothing announces it: until then, reads go to the store.
    if (unreadable) throw new StorageError('corrupt', `the value of ${unreadable.key} cannot be decrypted`)
    for (const entry of page.entries) entries.set(entry.key, attributeReader.entry(detachedEntry(entry)))
    const last = page.entries.at(-1)
    if (page.remaining === 0 || !last) break
    page = await store.range(prefix, { limit: pageSize, startAfter: last.key, at: { exactly: revision } })
  }
  let changed = revision

  function countFrom(start: string, end: string, earlier: ChangedEntries<F>, keys: readonly string[]): number {
    let count = entries.rank(end) - entries.rank(start)
    for (const key of keys) {
      if (compareKeys(key, start) >= 0) count += Number(earlier.get(key) !== undefined) - Number(entries.has(key))
    }
    return count
  }

  return {
    get changed() {
      return changed
    },

    get: key => entries.get(key),

    page(
      of,
      { limit = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, startAfter },
      earlier = NOTHING_CHANGED,
    ) {
      const end = endOfPrefix(of)
      // The smallest string after a key is the key with a NUL appended.
      const start = startAfter === undefined ? of : `${startAfter}\0`
      const before = keysBetween(earlier, start, end)
      const found: CachedEntry<F>[] = []
      let bytes = 0
      for (const key of mergeKeys([entries.keys(start, end), before])) {
        const entry = earlier.has(key) ? earlier.get(key) : entries.get(key)
        if (!entry) continue
        if (found.length === limit || bytes >= maxBytes)
          return { entries: found, remaining: countFrom(key, end, earlier, before) }
        found.push(entry)
        bytes += entry.value.length
      }
      return { entries: found, remaining: 0 }
    },

    apply(event) {
      changed = event.revision
      if (event.entry) entries.set(event.key, event.entry)
      else entries.delete(event.key)
    },
  }
}

/** A copy of an event that can be kept for long. */
export const detached = (event: StoreEvent): StoreEvent =>
  event.value ? { ...event, value: detachedValue(event.value) } : event

const detachedEntry = ({ key, value, revision }: Entry): Entry => ({ key, value: detachedValue(value), revision })

/** A value may be a slice of a large network message and would keep all of that message in memory. */
function detachedValue(value: Buffer): Buffer {
  return value.buffer.byteLength <= 2 * value.byteLength ? value : ownCopy(value)
}
