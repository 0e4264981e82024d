// A bounded cache in two generations. New entries go into the young generation. When that is full it becomes the old one,
// and the previous old generation is dropped. An entry found in the old generation moves back into the young one, so what
// is used again stays. Cheaper than a list in order of use: a hit in the young generation changes nothing.

export interface GenerationCache<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): void
}

export interface GenerationCacheOptions<V> {
  /** The weight of all entries of one generation; the cache holds up to twice as much. */
  readonly maxWeight: number
  /** The weight of one entry; each weighs 1 when absent. */
  readonly weigh?: (value: V) => number
  /** Called when the young generation was full and has become the old one. */
  readonly onTurn?: () => void
}

export function createGenerationCache<K, V>(options: GenerationCacheOptions<V>): GenerationCache<K, V> {
  const { maxWeight, weigh = () => 1, onTurn } = options
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  let weight = 0

  function set(key: K, value: V): void {
    if (!young.has(key)) {
      const added = weigh(value)
      if (weight + added > maxWeight) {
        old = young
        young = new Map()
        weight = 0
        onTurn?.()
      }
      weight += added
    }
    young.set(key, value)
  }

  return {
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const aged = old.get(key)
      if (aged !== undefined) set(key, aged)
      return aged
    },
    set,
  }
}
