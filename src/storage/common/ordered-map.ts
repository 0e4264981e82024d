// A map with sorted keys, kept in sorted runs of bounded length and found by binary search. An insert shifts one run
// only, and a key's rank is the sum of run lengths, so counting needs no iteration over keys.
import { compareKeys } from '../keys.js'

const MAX_RUN = 512

export interface OrderedMap<V> {
  readonly size: number
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): boolean
  /** The keys from `start` (included) to `end` (not included), in order. The map must not change meanwhile. */
  keys(start: string, end: string): IterableIterator<string>
  /** How many keys sort before this one. */
  rank(key: string): number
}

export function createOrderedMap<V>(): OrderedMap<V> {
  const values = new Map<string, V>()
  const runs: string[][] = []

  /** The index of the last run that begins at or before the key, or of the first run. */
  function runFor(key: string): number {
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(runs[middle]![0]!, key) <= 0) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  function insert(key: string): void {
    const index = runFor(key)
    const run = runs[index]
    if (!run) {
      runs.push([key])
      return
    }
    run.splice(lowerBound(run, key), 0, key)
    // Keys often arrive in order: split at the end then, so that the left run stays full instead of half empty.
    if (run.length > MAX_RUN) {
      const cut = index === runs.length - 1 && run.at(-1) === key ? MAX_RUN : MAX_RUN >>> 1
      runs.splice(index + 1, 0, run.splice(cut))
    }
  }

  return {
    get size() {
      return values.size
    },
    get: key => values.get(key),
    set(key, value) {
      if (!values.has(key)) insert(key)
      values.set(key, value)
    },
    delete(key) {
      if (!values.delete(key)) return false
      const index = runFor(key)
      const run = runs[index]!
      run.splice(lowerBound(run, key), 1)
      if (run.length === 0) runs.splice(index, 1)
      return true
    },
    *keys(start, end) {
      let index = runFor(start)
      let at = lowerBound(runs[index] ?? [], start)
      for (let run = runs[index]; run; run = runs[++index], at = 0) {
        for (; at < run.length; at++) {
          const key = run[at]!
          if (compareKeys(key, end) >= 0) return
          yield key
        }
      }
    },
    rank(key) {
      const index = runFor(key)
      let before = 0
      for (let i = 0; i < index; i++) before += runs[i]!.length
      return before + lowerBound(runs[index] ?? [], key)
    },
  }
}

/** The position of the first key in a sorted run that does not sort before `key`. */
function lowerBound(run: readonly string[], key: string): number {
  let low = 0
  let high = run.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(run[middle]!, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
