// Lists by the keys of their items, in one pass: a list in a request may have hundreds of thousands of items.

/** The indexes of items that occur earlier in the list, too. */
export function repeatsOf(items: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>()
  const repeats = new Set<number>()
  for (const [i, item] of items.entries()) {
    if (seen.has(item)) repeats.add(i)
    else seen.add(item)
  }
  return repeats
}

/** The first item of each key. */
export function firstByKey<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T> {
  const first = new Map<string, T>()
  for (const item of items) {
    const key = keyOf(item)
    if (!first.has(key)) first.set(key, item)
  }
  return first
}
