// A histogram of a value over time. Each nanosecond counts the value that it had, so that a value that is high for a short
// time counts little. A change of the value costs a subtraction and two additions.

export interface TimingHistogram {
  /** The value from now on; `nowMs` is of `performance.now()`. */
  set(value: number, nowMs: number): void
  /** Nanoseconds in each bucket, the last one above all bounds, and the sum of the values of all nanoseconds. */
  counted(nowMs: number): { readonly counts: readonly number[]; readonly sum: number }
}

const NANOSECONDS = 1e6

export function createTimingHistogram(bounds: readonly number[]): TimingHistogram {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0)
  let sum = 0
  let value = 0
  let bucket = bucketOf(0)
  let since = performance.now()

  function bucketOf(of: number): number {
    let i = 0
    while (i < bounds.length && of > bounds[i]!) i++
    return i
  }

  function countUntil(now: number): void {
    const time = (now - since) * NANOSECONDS
    // Two parts of the server may read the time in another order than they come here.
    if (time <= 0) return
    since = now
    counts[bucket]! += time
    sum += value * time
  }

  return {
    set(next, now) {
      countUntil(now)
      if (next === value) return
      value = next
      bucket = bucketOf(next)
    },
    counted(now) {
      countUntil(now)
      return { counts: counts.map(Math.round), sum }
    },
  }
}
