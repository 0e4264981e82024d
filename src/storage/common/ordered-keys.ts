// A set of sorted keys, kept in sorted runs of bounded length and found by binary search. An insert shifts one run only,
// and a key's rank is the sum of run lengths, so counting needs no iteration over keys.
import { compareKeys } from '../keys.js'

const MAX_RUN = 512

export interface OrderedKeys {
  readonly size: number
  has(key: string): boolean
  /** False if the key is there already. */
  add(key: string): boolean
  /** False if the key is not there. */
  delete(key: string): boolean
  /** The keys from `start` (included) to `end` (not included), in order. The set must not change meanwhile. */
  keys(start: string, end: string): IterableIterator<string>
  /** All keys, in order. */
  all(): string[]
  /** How many keys sort before this one. */
  rank(key: string): number
}

export function createOrderedKeys(): OrderedKeys {
  return new SortedRuns()
}

/** A class, since there is one for every value of a label. */
class SortedRuns implements OrderedKeys {
  size = 0
  readonly #runs: string[][] = []

  has(key: string): boolean {
    const run = this.#runs[this.#runFor(key)]
    return run !== undefined && run[lowerBound(run, key)] === key
  }

  add(key: string): boolean {
    const runs = this.#runs
    const index = this.#runFor(key)
    const run = runs[index]
    if (!run) {
      runs.push([key])
      this.size++
      return true
    }
    const at = lowerBound(run, key)
    if (run[at] === key) return false
    run.splice(at, 0, key)
    this.size++
    // Keys often arrive in order: split at the end then, so that the left run stays full instead of half empty.
    if (run.length > MAX_RUN) {
      const cut = index === runs.length - 1 && run.at(-1) === key ? MAX_RUN : MAX_RUN >>> 1
      runs.splice(index + 1, 0, run.splice(cut))
    }
    return true
  }

  delete(key: string): boolean {
    const index = this.#runFor(key)
    const run = this.#runs[index]
    const at = run ? lowerBound(run, key) : 0
    if (run?.[at] !== key) return false
    run.splice(at, 1)
    this.size--
    if (run.length === 0) this.#runs.splice(index, 1)
    return true
  }

  *keys(start: string, end: string): IterableIterator<string> {
    const runs = this.#runs
    let index = this.#runFor(start)
    let at = lowerBound(runs[index] ?? [], start)
    for (let run = runs[index]; run; run = runs[++index], at = 0) {
      for (; at < run.length; at++) {
        const key = run[at]!
        if (compareKeys(key, end) >= 0) return
        yield key
      }
    }
  }

  all(): string[] {
    return this.#runs.flat()
  }

  rank(key: string): number {
    const index = this.#runFor(key)
    let before = 0
    for (let i = 0; i < index; i++) before += this.#runs[i]!.length
    return before + lowerBound(this.#runs[index] ?? [], key)
  }

  /** The index of the last run that begins at or before the key, or of the first run. */
  #runFor(key: string): number {
    const runs = this.#runs
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(runs[middle]![0]!, key) <= 0) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
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
