// Objects that readers see otherwise than they are stored, because the rules of their kind have changed since or because
// they are read in another version: as the bytes in which they would be stored today, so that each is converted once and
// not for every reader. The most recently used are kept, up to a number of bytes for all kinds of a server together.
import { createGenerationCache, type GenerationCache } from '../../base/generation-cache.js'
import type { KindVersion } from '../../kinds/kind.js'
import type { Entry } from '../../storage/store.js'

export interface ConvertedObjects {
  /** The entry with other bytes, if it was read in that version before. */
  find(version: KindVersion, entry: Entry): Entry | undefined
  keep(version: KindVersion, converted: Entry): void
}

const MAX_BYTES = 16 * 1024 * 1024
/** The approximate size of an entry beside its bytes. */
const ENTRY_BYTES = 256

export function createConvertedObjects(maxBytes = MAX_BYTES): ConvertedObjects {
  /** A number for each version, as a part of the key: one cache bounds the versions of all kinds. */
  const numbers = new WeakMap<KindVersion, number>()
  let lastNumber = 0
  const cache: GenerationCache<string, Entry> = createGenerationCache({
    maxWeight: maxBytes,
    weigh: ({ value }) => value.length + ENTRY_BYTES,
  })

  function keyOf(version: KindVersion, { key, revision }: Entry): string {
    let number = numbers.get(version)
    if (number === undefined) numbers.set(version, (number = ++lastNumber))
    return `${number} ${revision} ${key}`
  }

  return {
    // Most versions never convert anything.
    find: (version, entry) => (numbers.has(version) ? cache.get(keyOf(version, entry)) : undefined),
    keep: (version, entry) => cache.set(keyOf(version, entry), entry),
  }
}
