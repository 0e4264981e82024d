// Several sorted sets of keys as one.
import { compareKeys } from '../keys.js'

/** More sets than this are gathered and sorted; fewer are merged while they are read. */
const MERGED = 8

/** The keys of all sets in order; a key that is in several of them comes once. */
export function mergeKeys(sources: readonly Iterable<string>[]): Iterable<string> {
  if (sources.length === 1) return sources[0]!
  if (sources.length > MERGED) return [...new Set(sources.flatMap(keys => [...keys]))].toSorted(compareKeys)
  return inTurns(sources)
}

function* inTurns(sources: readonly Iterable<string>[]): Generator<string> {
  const iterators = sources.map(keys => keys[Symbol.iterator]())
  const heads = iterators.map(iterator => iterator.next())
  for (;;) {
    let least: string | undefined
    for (const { done, value } of heads) {
      if (!done && (least === undefined || compareKeys(value, least) < 0)) least = value
    }
    if (least === undefined) return
    yield least
    for (const [i, { done, value }] of heads.entries()) if (!done && value === least) heads[i] = iterators[i]!.next()
  }
}
