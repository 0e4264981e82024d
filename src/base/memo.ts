// Values that are computed once and kept: forever, as long as their source lives, or until the source changes.
// And long work in slices that let the event loop run between them.
import { nextTurn } from './turns.js'

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

/** Runs work that yields after each piece, and lets the event loop run once a slice of time is used up. */
export async function inTurns(work: Iterable<unknown>): Promise<void> {
  let begin = performance.now()
  for (const _ of work) {
    if (performance.now() - begin < SLICE_MS) continue
    await nextTurn()
    begin = performance.now()
  }
}

const SLICE_MS = 5
