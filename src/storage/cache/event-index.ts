// Where an event can be heard. Beside its key and folders that is a folder plus a term (`spec.nodeName` = `n1`), but
// only for those fields of a folder that someone listens to: an event is not described for nobody.
import { type Addressing, addressesOfKey, isWithin } from '../common/watchers.js'
import type { CachedEntry, CachedEvent } from './entry-attributes.js'

/** Narrows a watch to the events whose new or previous facts have this term. */
export interface Term {
  readonly field: string
  readonly value: string
}

export interface Addresses<F> extends Addressing<CachedEvent<F>> {
  /** Makes events in the folder heard by the field's terms, until the answered function is called. */
  listen(prefix: string, field: string): () => void
}

export function createAddresses<F>(cacheFolder: string): Addresses<F> {
  /** How many listen, by folder and field. */
  const fields = new Map<string, Map<string, number>>()

  function addressesOf(event: CachedEvent<F>): string[] {
    const addresses = addressesOfKey(event.key)
    // Folders around the cache's own cannot be watched here.
    while (addresses[0] !== cacheFolder) addresses.shift()
    if (fields.size === 0) return addresses
    // The last of the addresses is the key, which has no terms: they would say nothing more.
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

    isHeardAt: (address, event) =>
      event.key === address ||
      isWithin(address, event.key) ||
      (address.includes(NUL) && addressesOf(event).includes(address)),
  }
}

export const addressOf = (target: string, term: Term | undefined): string =>
  term ? termAddress(target, term.field, term.value) : target

export const hasTerm = <F>(event: CachedEvent<F>, { field, value }: Term): boolean =>
  termIn(event.entry, field) === value || termIn(event.previous, field) === value

// Keys hold no NUL, so that a term's address is never a key's.
const NUL = '\0'
const termAddress = (prefix: string, field: string, value: string): string => prefix + NUL + field + NUL + value

function termIn<F>(entry: CachedEntry<F> | undefined, field: string): string | undefined {
  if (!entry) return undefined
  try {
    const { indexedFields } = entry.attributes
    return Object.hasOwn(indexedFields, field) ? indexedFields[field] : undefined
  } catch {
    return undefined // a value that cannot be described has no terms, and must not stop the events behind it
  }
}
