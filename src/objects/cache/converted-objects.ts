// Objects that are shown otherwise than they are stored, because their kind has changed since or another version is
// asked for: as the bytes in which they would be stored today, so that each is read and encoded once and not for every
// reader. The most recently used are kept, up to a number of bytes for all kinds together.
import type { KindVersion } from '../../kinds/kind.js'
import type { Entry, Revision } from '../../storage/store.js'

export interface ConvertedBytes {
  /** The entry with other bytes, if it was shown in that version before. */
  find(version: KindVersion, entry: Entry): Entry | undefined
  keep(version: KindVersion, converted: Entry): void
}

const MAX_BYTES = 16 * 1024 * 1024
/** What an entry weighs beside its bytes, roughly. */
const ENTRY_BYTES = 256

/** Two generations of that size: when the young one is full it becomes the old one, and what was not used is forgotten. */
export function createConvertedBytes(maxBytes = MAX_BYTES): ConvertedBytes {
  let young = new Map<KindVersion, Map<Revision, Entry>>()
  let old: typeof young = new Map()
  let bytes = 0

  function keep(version: KindVersion, entry: Entry): void {
    bytes += entry.value.length + ENTRY_BYTES
    if (bytes > maxBytes) {
      old = young
      young = new Map()
      bytes = entry.value.length + ENTRY_BYTES
    }
    const kept = young.get(version)
    if (kept) kept.set(entry.revision, entry)
    else young.set(version, new Map([[entry.revision, entry]]))
  }

  return {
    find(version, { key, revision }) {
      const inYoung = young.get(version)?.get(revision)
      // Several keys may be written at one revision.
      if (inYoung?.key === key) return inYoung
      const inOld = old.get(version)?.get(revision)
      if (inOld?.key !== key) return undefined
      keep(version, inOld)
      return inOld
    },
    keep,
  }
}
