// Attributes of stored values, such as labels and indexed fields: computed once for each write, on first use.
import { createGenerationCache } from '../../base/generation-cache.js'
import type { Entry, Revision, StoreEvent } from '../store.js'

export interface EntryAttributes<F> {
  /** Fields by which reads and watches can select: `spec.nodeName` → `n1`. */
  readonly indexedFields: Readonly<Record<string, string>>
  /** The same for labels. */
  readonly labels: Readonly<Record<string, string>>
  /** Other data that is computed from the value. */
  readonly data: F
}

/** Selects the entries that have one of these values, or any value at all if there are no `values`. */
export interface AttributeTerm {
  readonly source: AttributeSource
  readonly name: string
  readonly values: readonly string[] | undefined
}

export type AttributeSource = 'indexedFields' | 'labels'

export type GetAttributes<F> = (key: string, value: Buffer) => EntryAttributes<F>

export interface CachedEntry<F> extends Entry {
  /** Throws what `getAttributes` throws. */
  readonly attributes: EntryAttributes<F>
}

/** One object for all watchers, so that what is computed from it can be kept in a WeakMap by it. */
export interface CachedEvent<F> extends StoreEvent {
  /** The entry after the event; undefined when it was deleted. */
  readonly entry: CachedEntry<F> | undefined
  readonly previous: CachedEntry<F> | undefined
}

export interface AttributeReader<F> {
  entry(entry: Entry): CachedEntry<F>
  event(event: StoreEvent): CachedEvent<F>
  /** The same where the caller has the entry that the event replaced. */
  eventAfter(previous: CachedEntry<F> | undefined, event: Omit<StoreEvent, 'previous'>): CachedEvent<F>
}

export function createAttributeReader<F>(getAttributes: GetAttributes<F>, memoSize: number): AttributeReader<F> {
  const attributesOf = createAttributesMemo(getAttributes, memoSize)
  const entry = (of: Entry): CachedEntry<F> => new LazyEntry(of.key, of.value, of.revision, attributesOf)
  const eventAfter: AttributeReader<F>['eventAfter'] = (previous, { revision, key, value }) =>
    new LazyEvent(revision, key, value, previous, value && new LazyEntry(key, value, revision, attributesOf))
  return {
    entry,
    event: event => eventAfter(event.previous && entry(event.previous), event),
    eventAfter,
  }
}

/** The value of an attribute; undefined if there is none. Throws what `getAttributes` throws. */
export function attributeOf<F>(
  { attributes }: CachedEntry<F>,
  { source, name }: Pick<AttributeTerm, 'source' | 'name'>,
): string | undefined {
  const values = attributes[source]
  return Object.hasOwn(values, name) ? values[name] : undefined
}

/** Whether an entry has what a term selects. Throws what `getAttributes` throws. */
export function hasTerm<F>(entry: CachedEntry<F>, term: AttributeTerm): boolean {
  const value = attributeOf(entry, term)
  return value !== undefined && (term.values?.includes(value) ?? true)
}

type AttributesOf<F> = (entry: Entry) => EntryAttributes<F>

/** Attributes of recent writes by revision. Several keys may be written at one revision: the last one is kept. */
function createAttributesMemo<F>(getAttributes: GetAttributes<F>, size: number): AttributesOf<F> {
  interface Known {
    readonly key: string
    readonly attributes: EntryAttributes<F>
  }
  const cache = createGenerationCache<Revision, Known>({ maxWeight: size / 2 })

  return ({ key, value, revision }) => {
    const known = cache.get(revision)
    if (known?.key === key) return known.attributes
    const attributes = getAttributes(key, value)
    cache.set(revision, { key, attributes })
    return attributes
  }
}

// Classes with a getter, so that attributes are computed on first use only. Private fields, so that an entry of the cache
// has the same visible properties as any other entry: key, value and revision.

class LazyEntry<F> implements CachedEntry<F> {
  readonly key: string
  readonly value: Buffer
  readonly revision: Revision
  readonly #attributesOf: AttributesOf<F>
  #attributes: EntryAttributes<F> | undefined

  constructor(key: string, value: Buffer, revision: Revision, attributesOf: AttributesOf<F>) {
    this.key = key
    this.value = value
    this.revision = revision
    this.#attributesOf = attributesOf
  }

  get attributes(): EntryAttributes<F> {
    this.#attributes ??= this.#attributesOf(this)
    return this.#attributes
  }
}

class LazyEvent<F> implements CachedEvent<F> {
  readonly revision: Revision
  readonly key: string
  readonly value: Buffer | undefined
  readonly previous: CachedEntry<F> | undefined
  readonly #entry: CachedEntry<F> | undefined

  constructor(
    revision: Revision,
    key: string,
    value: Buffer | undefined,
    previous: CachedEntry<F> | undefined,
    entry: CachedEntry<F> | undefined,
  ) {
    this.revision = revision
    this.key = key
    this.value = value
    this.previous = previous
    this.#entry = entry
  }

  get entry(): CachedEntry<F> | undefined {
    return this.#entry
  }
}
