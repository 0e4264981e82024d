// The addresses of an event: its key, the prefixes of the key, and a prefix plus a term (`spec.nodeName` = `n1`,
// `app` in (a, b)) for terms that are being watched. Attributes of an event are computed only if such a term is watched,
// and a set of values is compared once for all watchers of it.
import { type Addressing, addressesOfKey, hasPrefix } from '../common/watchers.js'
import { type AttributeTerm, attributeOf, type CachedEntry, type CachedEvent, hasTerm } from './entry-attributes.js'

export interface EventIndex<F> extends Addressing<CachedEvent<F>> {
  /** Publishes events of the prefix at the term's address, until the returned function is called. */
  listen(prefix: string, term: AttributeTerm): () => void
}

/** What is watched of one attribute: single values are found by their address, other terms are compared one by one. */
interface Listened {
  readonly term: AttributeTerm
  count: number
  readonly sets: Map<string, { readonly term: AttributeTerm; count: number }>
}

export function createEventIndex<F>(cachePrefix: string): EventIndex<F> {
  /** By prefix, then by source and name of the attribute. */
  const listened = new Map<string, Map<string, Listened>>()

  function addressesOf(event: CachedEvent<F>): string[] {
    const addresses = addressesOfKey(event.key)
    // Prefixes shorter than the cache's own cannot be watched here.
    while (addresses[0] !== cachePrefix) addresses.shift()
    if (listened.size === 0) return addresses
    // The last address is the key itself, for which terms are not indexed.
    for (let i = addresses.length - 2; i >= 0; i--) {
      const prefix = addresses[i]!
      for (const { term, sets } of listened.get(prefix)?.values() ?? []) {
        const now = valueIn(event.entry, term)
        const before = valueIn(event.previous, term)
        if (now !== undefined) addresses.push(valueAddress(prefix, term, now))
        if (before !== undefined && before !== now) addresses.push(valueAddress(prefix, term, before))
        for (const [address, { term: set }] of sets) if (isIn(set, now) || isIn(set, before)) addresses.push(address)
      }
    }
    return addresses
  }

  return {
    listen(prefix, term) {
      const attributes = listened.get(prefix) ?? new Map<string, Listened>()
      listened.set(prefix, attributes)
      const id = attributeId(term)
      const attribute = attributes.get(id) ?? { term, count: 0, sets: new Map() }
      attributes.set(id, attribute)
      attribute.count++
      const address = addressOf(prefix, term)
      const set = isSingle(term) ? undefined : (attribute.sets.get(address) ?? { term, count: 0 })
      if (set) {
        set.count++
        attribute.sets.set(address, set)
      }
      return () => {
        if (set && --set.count === 0) attribute.sets.delete(address)
        if (--attribute.count === 0) attributes.delete(id)
        if (attributes.size === 0) listened.delete(prefix)
      }
    },

    addressesOf,

    matches: (address, event) =>
      event.key === address ||
      hasPrefix(address, event.key) ||
      (address.includes(NUL) && addressesOf(event).includes(address)),
  }
}

/** Where a watcher of a target listens. */
export function addressOf(target: string, term: AttributeTerm | undefined): string {
  if (!term) return target
  if (isSingle(term)) return valueAddress(target, term, term.values![0]!)
  const kind = term.values ? 'in' : 'exists'
  return [target, kind, attributeId(term), ...(term.values ?? [])].join(NUL)
}

/** Whether the event concerns an entry that has what the term selects. */
export const concernsTerm = <F>({ entry, previous }: CachedEvent<F>, term: AttributeTerm): boolean =>
  isReadableWith(entry, term) || isReadableWith(previous, term)

// Keys contain no NUL, so the address of a term never equals a key.
const NUL = '\0'
const attributeId = ({ source, name }: AttributeTerm): string => `${source}${NUL}${name}`
const valueAddress = (prefix: string, term: AttributeTerm, value: string): string =>
  [prefix, 'is', attributeId(term), value].join(NUL)

const isSingle = ({ values }: AttributeTerm): boolean => values?.length === 1
const isIn = ({ values }: AttributeTerm, value: string | undefined): boolean =>
  value !== undefined && (values?.includes(value) ?? true)

// An entry that cannot be decoded has no attributes, and later events must still be delivered.

function valueIn<F>(entry: CachedEntry<F> | undefined, term: AttributeTerm): string | undefined {
  try {
    return entry && attributeOf(entry, term)
  } catch {
    return undefined
  }
}

function isReadableWith<F>(entry: CachedEntry<F> | undefined, term: AttributeTerm): boolean {
  try {
    return entry !== undefined && hasTerm(entry, term)
  } catch {
    return false
  }
}
