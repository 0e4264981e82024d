// All entries of a prefix in memory, for stores that are not embedded.

import { createOrderedMap } from '../common/ordered-map.js'
import { endOfPrefix } from '../keys.js'
import type { Entry, Page, RangeOptions, Revision, Store, StoreEvent } from '../store.js'
import type { AttributeReader, CachedEntry, CachedEvent } from './entry-attributes.js'

export interface ResidentState<F> {
  /** The revision of the last change of the state. */
  readonly changed: Revision
  get(key: string): CachedEntry<F> | undefined
  /** The current entries of a prefix, and how many more there are. */
  page(
    prefix: string,
    options: Pick<RangeOptions, 'limit' | 'startAfter'>,
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
    for (const entry of page.entries) entries.set(entry.key, attributeReader.entry(detachedEntry(entry)))
    const last = page.entries.at(-1)
    if (page.remaining === 0 || !last) break
    page = await store.range(prefix, { limit: pageSize, startAfter: last.key, at: { exactly: revision } })
  }
  let changed = revision

  return {
    get changed() {
      return changed
    },

    get: key => entries.get(key),

    page(of, { limit = Number.POSITIVE_INFINITY, startAfter }) {
      const end = endOfPrefix(of)
      // The smallest string after a key is the key with a NUL appended.
      const start = startAfter === undefined ? of : `${startAfter}\0`
      const found: CachedEntry<F>[] = []
      for (const key of entries.keys(start, end)) {
        if (found.length === limit) return { entries: found, remaining: entries.rank(end) - entries.rank(key) }
        found.push(entries.get(key)!)
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
  if (value.buffer.byteLength <= 2 * value.byteLength) return value
  const copy = Buffer.allocUnsafeSlow(value.byteLength)
  value.copy(copy)
  return copy
}
