// The addresses of an event: its key, the prefixes of the key, and a prefix plus a field value (`spec.nodeName` = `n1`)
// for fields that are being watched. Attributes of an event are computed only if such a field is watched.
import { type Addressing, addressesOfKey, hasPrefix } from '../common/watchers.js'
import type { CachedEntry, CachedEvent } from './entry-attributes.js'

/** Narrows a watch to events whose new or previous entry has this field value. */
export interface FieldTerm {
  readonly field: string
  readonly value: string
}

export interface EventIndex<F> extends Addressing<CachedEvent<F>> {
  /** Publishes events of the prefix at the field's values, until the returned function is called. */
  listen(prefix: string, field: string): () => void
}

export function createEventIndex<F>(cachePrefix: string): EventIndex<F> {
  /** The number of watches, by prefix and field. */
  const fields = new Map<string, Map<string, number>>()

  function addressesOf(event: CachedEvent<F>): string[] {
    const addresses = addressesOfKey(event.key)
    // Prefixes shorter than the cache's own cannot be watched here.
    while (addresses[0] !== cachePrefix) addresses.shift()
    if (fields.size === 0) return addresses
    // The last address is the key itself, for which field values are not indexed.
    for (let i = addresses.length - 2; i >= 0; i--) {
      const prefix = addresses[i]!
      for (const field of fields.get(prefix)?.keys() ?? []) {
        const now = termIn(event.entry, field)
        const before = termIn(event.previous, field)
        if (now !== undefined) addresses.push(termAddress(prefix, field, now))
        if (before !== undefined && before !== now) addresses.push(termAddress(prefix, field, before))
      }
    }
    return addresses
  }

  return {
    listen(prefix, field) {
      const counts = fields.get(prefix) ?? new Map<string, number>()
      fields.set(prefix, counts)
      counts.set(field, (counts.get(field) ?? 0) + 1)
      return () => {
        const left = counts.get(field)! - 1
        if (left > 0) counts.set(field, left)
        else {
          counts.delete(field)
          if (counts.size === 0) fields.delete(prefix)
        }
      }
    },

    addressesOf,

    matches: (address, event) =>
      event.key === address ||
      hasPrefix(address, event.key) ||
      (address.includes(NUL) && addressesOf(event).includes(address)),
  }
}

export const addressOf = (target: string, term: FieldTerm | undefined): string =>
  term ? termAddress(target, term.field, term.value) : target

export const hasTerm = <F>(event: CachedEvent<F>, { field, value }: FieldTerm): boolean =>
  termIn(event.entry, field) === value || termIn(event.previous, field) === value

// Keys contain no NUL, so the address of a field value never equals a key.
const NUL = '\0'
const termAddress = (prefix: string, field: string, value: string): string => prefix + NUL + field + NUL + value

function termIn<F>(entry: CachedEntry<F> | undefined, field: string): string | undefined {
  if (!entry) return undefined
  try {
    const { indexedFields } = entry.attributes
    return Object.hasOwn(indexedFields, field) ? indexedFields[field] : undefined
  } catch {
    return undefined // an entry that cannot be decoded has no indexed fields, and later events must still be delivered
  }
}
