// What the upper rooms know about a value beside its bytes, worked out once for each write and only when asked for.
import type { Entry, Revision, StoreEvent } from '../store.js'

export interface EntryAttributes<F> {
  /** Equality terms that a watch can ask for, by field: `spec.nodeName` → `n1`. A field's name holds no NUL. */
  readonly indexedFields: Readonly<Record<string, string>>
  /** Whatever else is worth keeping, such as labels. */
  readonly data: F
}

export type GetAttributes<F> = (key: string, value: Buffer) => EntryAttributes<F>

export interface CachedEntry<F> extends Entry {
  /** Throws what `describe` throws. */
  readonly attributes: EntryAttributes<F>
}

/** One object for all watchers, so that what is worked out from it can be kept by it. */
export interface CachedEvent<F> extends StoreEvent {
  /** What stands at the key now; undefined when it was deleted. */
  readonly entry: CachedEntry<F> | undefined
  readonly previous: CachedEntry<F> | undefined
}

export interface AttributeReader<F> {
  entry(entry: Entry): CachedEntry<F>
  /** `previous`: the entry that the event replaced, where it is at hand already. */
  event(event: StoreEvent, previous?: CachedEntry<F>): CachedEvent<F>
}

export function createAttributeReader<F>(getAttributes: GetAttributes<F>, memoSize: number): AttributeReader<F> {
  const attributesOf = createFactsMemo(getAttributes, memoSize)
  const entry = (of: Entry): CachedEntry<F> => new LazyEntry(of.key, of.value, of.revision, attributesOf)
  return {
    entry,
    event({ revision, key, value, previous }, known) {
      return new LazyEvent(
        revision,
        key,
        value,
        previous && (known?.revision === previous.revision ? known : entry(previous)),
        value && new LazyEntry(key, value, revision, attributesOf),
      )
    },
  }
}

type FactsOf<F> = (entry: Entry) => EntryAttributes<F>

/**
 * Facts of recent writes, found by revision, which no two writes share. Two generations of bounded size: when the young
 * one is full it becomes the old one, and what was not asked for since is forgotten.
 */
function createFactsMemo<F>(getAttributes: GetAttributes<F>, size: number): FactsOf<F> {
  interface Known {
    readonly key: string
    readonly attributes: EntryAttributes<F>
  }
  let young = new Map<Revision, Known>()
  let old = new Map<Revision, Known>()

  return ({ key, value, revision }) => {
    const inYoung = young.get(revision)
    if (inYoung?.key === key) return inYoung.attributes
    const inOld = old.get(revision)
    const known = inOld?.key === key ? inOld : { key, attributes: getAttributes(key, value) }
    if (young.size >= size / 2) {
      old = young
      young = new Map()
    }
    young.set(revision, known)
    return known.attributes
  }
}

// Classes, for a getter that costs nothing until it is asked for, and private fields so that an entry of the cache
// looks like any other entry: only its key, value and revision show.

class LazyEntry<F> implements CachedEntry<F> {
  readonly key: string
  readonly value: Buffer
  readonly revision: Revision
  readonly #factsOf: FactsOf<F>
  #facts: EntryAttributes<F> | undefined

  constructor(key: string, value: Buffer, revision: Revision, attributesOf: FactsOf<F>) {
    this.key = key
    this.value = value
    this.revision = revision
    this.#factsOf = attributesOf
  }

  get attributes(): EntryAttributes<F> {
    this.#facts ??= this.#factsOf(this)
    return this.#facts
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
