// A map with sorted keys that can be copied at once, whatever it holds: it is a list of sorted runs of bounded length, a copy
// takes the list, and a run that both maps have is copied when one of them changes it.
import { compareKeys } from '../keys.js'

const MAX_RUN = 512

export interface ForkableMap<V> {
  readonly size: number
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): boolean
  /** The keys from `start` (included) to `end` (not included), in order. The map must not change meanwhile. */
  keys(start: string, end: string): IterableIterator<string>
  /** How many keys sort before this one. */
  rank(key: string): number
  /** An independent map with the same content. */
  fork(): ForkableMap<V>
}

/** `owner` is the map that may change the run. */
interface Run<V> {
  readonly keys: string[]
  readonly values: V[]
  readonly owner: object
}

export const createForkableMap = <V>(): ForkableMap<V> => mapOf<V>([])

function mapOf<V>(runs: Run<V>[]): ForkableMap<V> {
  /** Replaced when the runs are shared with another map, so that this map owns none of them any more. */
  let owner = {}

  /** The index of the last run that begins at or before the key, or of the first run. */
  function runFor(key: string): number {
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(runs[middle]!.keys[0]!, key) <= 0) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  /** The run, copied if another map has it too. */
  function owned(index: number): Run<V> {
    const run = runs[index]!
    if (run.owner === owner) return run
    const copy = { keys: [...run.keys], values: [...run.values], owner }
    runs[index] = copy
    return copy
  }

  function insert(index: number, at: number, key: string, value: V): void {
    const run = owned(index)
    run.keys.splice(at, 0, key)
    run.values.splice(at, 0, value)
    if (run.keys.length <= MAX_RUN) return
    // Keys often arrive in order: split at the end then, so that the left run stays full instead of half empty.
    const cut = index === runs.length - 1 && run.keys.at(-1) === key ? MAX_RUN : MAX_RUN >>> 1
    runs.splice(index + 1, 0, { keys: run.keys.splice(cut), values: run.values.splice(cut), owner })
  }

  return {
    get size() {
      return runs.reduce((sum, { keys }) => sum + keys.length, 0)
    },
    get(key) {
      const run = runs[runFor(key)]
      if (!run) return undefined
      const at = lowerBound(run.keys, key)
      return run.keys[at] === key ? run.values[at] : undefined
    },
    set(key, value) {
      if (runs.length === 0) {
        runs.push({ keys: [key], values: [value], owner })
        return
      }
      const index = runFor(key)
      const at = lowerBound(runs[index]!.keys, key)
      if (runs[index]!.keys[at] === key) owned(index).values[at] = value
      else insert(index, at, key, value)
    },
    delete(key) {
      const index = runFor(key)
      const at = lowerBound(runs[index]?.keys ?? [], key)
      if (runs[index]?.keys[at] !== key) return false
      const run = owned(index)
      run.keys.splice(at, 1)
      run.values.splice(at, 1)
      if (run.keys.length === 0) runs.splice(index, 1)
      return true
    },
    *keys(start, end) {
      let index = runFor(start)
      let at = lowerBound(runs[index]?.keys ?? [], start)
      for (let run = runs[index]; run; run = runs[++index], at = 0) {
        for (; at < run.keys.length; at++) {
          const key = run.keys[at]!
          if (compareKeys(key, end) >= 0) return
          yield key
        }
      }
    },
    rank(key) {
      const index = runFor(key)
      let before = 0
      for (let i = 0; i < index; i++) before += runs[i]!.keys.length
      return before + lowerBound(runs[index]?.keys ?? [], key)
    },
    fork() {
      owner = {}
      return mapOf([...runs])
    },
  }
}

/** The position of the first key in a sorted list that does not sort before `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(keys[middle]!, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
