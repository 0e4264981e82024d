// Stored objects converted to a version, as the bytes in which they would be stored today. Used where the stored bytes
// cannot be sent as they are, because the kind has changed since or another version is requested. Each object is then
// decoded and encoded once and not for every reader. Bounded by bytes, for all kinds together.
import { createGenerationCache } from '../../base/generation-cache.js'
import type { KindVersion } from '../../kinds/kind.js'
import type { Entry } from '../../storage/store.js'

export interface ConvertedBytes {
  /** The entry with the bytes of that version, if they are in the cache. */
  find(version: KindVersion, entry: Entry): Entry | undefined
  keep(version: KindVersion, converted: Entry): void
}

const MAX_BYTES = 16 * 1024 * 1024
/** What an entry takes beside its bytes, roughly. */
const ENTRY_BYTES = 256

/** `maxBytes` of each of the two generations. */
export function createConvertedBytes(maxBytes = MAX_BYTES): ConvertedBytes {
  const cache = createGenerationCache<string, Entry>({
    maxWeight: maxBytes,
    weigh: ({ value }) => value.length + ENTRY_BYTES,
  })
  const numbers = new WeakMap<KindVersion, number>()
  let next = 0

  function cacheKey(version: KindVersion, { revision }: Entry): string {
    let number = numbers.get(version)
    if (number === undefined) numbers.set(version, (number = next++))
    return `${number}/${revision}`
  }

  return {
    find(version, entry) {
      const found = cache.get(cacheKey(version, entry))
      // Several keys may be written at one revision: the last one is kept.
      return found?.key === entry.key ? found : undefined
    },
    keep: (version, converted) => cache.set(cacheKey(version, converted), converted),
  }
}
