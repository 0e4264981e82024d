// A histogram of a value over time. Each nanosecond counts the value that it had, so that a value that is high for a short
// time counts little. A change of the value costs a subtraction and two additions.

export interface TimingHistogram {
  /** The value from now on; `nowMs` is of `performance.now()`. */
  set(value: number, nowMs: number): void
  /** Nanoseconds in each bucket, the last one above all bounds, and the sum of the values of all nanoseconds. */
  counted(nowMs: number): { readonly counts: readonly number[]; readonly sum: number }
}

const NANOSECONDS = 1e6
const [SINCE, VALUE, SUM] = [0, 1, 2]

export function createTimingHistogram(bounds: readonly number[]): TimingHistogram {
  // In an array of numbers, because a variable of a closure would be a new number on the heap at each change.
  const counts = new Float64Array(bounds.length + 1)
  const state = new Float64Array(3)
  let bucket = bucketOf(0)
  state[SINCE] = performance.now()

  function bucketOf(of: number): number {
    let i = 0
    while (i < bounds.length && of > bounds[i]!) i++
    return i
  }

  function countUntil(now: number): void {
    const time = (now - state[SINCE]!) * NANOSECONDS
    // Two parts of the server may read the time in another order than they come here.
    if (time <= 0) return
    state[SINCE] = now
    counts[bucket]! += time
    state[SUM]! += state[VALUE]! * time
  }

  return {
    set(next, now) {
      countUntil(now)
      if (next === state[VALUE]) return
      state[VALUE] = next
      bucket = bucketOf(next)
    },
    counted(now) {
      countUntil(now)
      return { counts: Array.from(counts, Math.round), sum: state[SUM]! }
    },
  }
}
