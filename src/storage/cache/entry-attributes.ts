// What the upper rooms know about a value beside its bytes, worked out once for each write and only when asked for.
import type { Entry, Revision, StoreEvent } from '../store.js'

export interface Facts<F> {
  /** Equality terms that a watch can ask for, by field: `spec.nodeName` → `n1`. A field's name holds no NUL. */
  readonly terms: Readonly<Record<string, string>>
  /** Whatever else is worth keeping, such as labels. */
  readonly data: F
}

export type Describe<F> = (key: string, value: Buffer) => Facts<F>

export interface CachedEntry<F> extends Entry {
  /** Throws what `describe` throws. */
  readonly facts: Facts<F>
}

/** One object for all watchers, so that what is worked out from it can be kept by it. */
export interface CachedEvent<F> extends StoreEvent {
  /** What stands at the key now; undefined when it was deleted. */
  readonly entry: CachedEntry<F> | undefined
  readonly previous: CachedEntry<F> | undefined
}

export interface Describer<F> {
  entry(entry: Entry): CachedEntry<F>
  /** `previous`: the entry that the event replaced, where it is at hand already. */
  event(event: StoreEvent, previous?: CachedEntry<F>): CachedEvent<F>
}

export function createDescriber<F>(describe: Describe<F>, memoSize: number): Describer<F> {
  const factsOf = createFactsMemo(describe, memoSize)
  const entry = (of: Entry): CachedEntry<F> => new LazyEntry(of.key, of.value, of.revision, factsOf)
  return {
    entry,
    event({ revision, key, value, previous }, known) {
      return new LazyEvent(
        revision,
        key,
        value,
        previous && (known?.revision === previous.revision ? known : entry(previous)),
        value && new LazyEntry(key, value, revision, factsOf),
      )
    },
  }
}

type FactsOf<F> = (entry: Entry) => Facts<F>

/**
 * Facts of recent writes, found by revision, which no two writes share. Two generations of bounded size: when the young
 * one is full it becomes the old one, and what was not asked for since is forgotten.
 */
function createFactsMemo<F>(describe: Describe<F>, size: number): FactsOf<F> {
  interface Known {
    readonly key: string
    readonly facts: Facts<F>
  }
  let young = new Map<Revision, Known>()
  let old = new Map<Revision, Known>()

  return ({ key, value, revision }) => {
    const inYoung = young.get(revision)
    if (inYoung?.key === key) return inYoung.facts
    const inOld = old.get(revision)
    const known = inOld?.key === key ? inOld : { key, facts: describe(key, value) }
    if (young.size >= size / 2) {
      old = young
      young = new Map()
    }
    young.set(revision, known)
    return known.facts
  }
}

// Classes, for a getter that costs nothing until it is asked for, and private fields so that an entry of the cache
// looks like any other entry: only its key, value and revision show.

class LazyEntry<F> implements CachedEntry<F> {
  readonly key: string
  readonly value: Buffer
  readonly revision: Revision
  readonly #factsOf: FactsOf<F>
  #facts: Facts<F> | undefined

  constructor(key: string, value: Buffer, revision: Revision, factsOf: FactsOf<F>) {
    this.key = key
    this.value = value
    this.revision = revision
    this.#factsOf = factsOf
  }

  get facts(): Facts<F> {
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
