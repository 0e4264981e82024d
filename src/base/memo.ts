// What is made once and kept: for good, as long as its source lives, or until there is another source.
// And long work in turns, so that others get theirs.
import { setImmediate as nextTurn } from 'node:timers/promises'

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Made once for each source, and gone with it. */
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

/** Made again whenever the source is another one. */
export function keptWhile<Source, T>(source: () => Source, make: (source: Source) => T): () => T {
  let kept: { readonly from: Source; readonly made: T } | undefined
  return () => {
    const from = source()
    if (!kept || kept.from !== from) kept = { from, made: make(from) }
    return kept.made
  }
}

/** Goes through work that stops after each piece, and pauses when it has kept others waiting. */
export async function inTurns(work: Iterable<unknown>): Promise<void> {
  let begin = performance.now()
  for (const _ of work) {
    if (performance.now() - begin < TURN_MS) continue
    await nextTurn()
    begin = performance.now()
  }
}

const TURN_MS = 5
