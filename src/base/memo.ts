// Values that are computed once and kept: forever, as long as their source lives, or until the source changes.

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Computed once for each source, and collected with it. */
export function keptBy<Source extends object, T, More extends readonly unknown[]>(
  make: (source: Source, ...more: More) => T,
): (source: Source, ...more: More) => T {
  const kept = new WeakMap<Source, { readonly made: T }>()
  return (source, ...more) => {
    let found = kept.get(source)
    if (found === undefined) {
      found = { made: make(source, ...more) }
      kept.set(source, found)
    }
    return found.made
  }
}

/** Computed again whenever the source is a different one. */
export function keptWhile<Source, T>(source: () => Source, make: (source: Source) => T): () => T {
  let kept: { readonly from: Source; readonly made: T } | undefined
  return () => {
    const from = source()
    if (!kept || kept.from !== from) kept = { from, made: make(from) }
    return kept.made
  }
}

/** Two sources as one, which is the same pair as long as both are the same. */
export function inPairs<A, B>(first: () => A, second: () => B): () => readonly [A, B] {
  let pair: readonly [A, B] | undefined
  return () => {
    const [a, b] = [first(), second()]
    if (!pair || pair[0] !== a || pair[1] !== b) pair = [a, b]
    return pair
  }
}
