// How many seconds a rejected client is to wait. The time doubles while requests of the level are rejected again and
// again, and falls by a second when that stops.

export interface RetryAfter {
  /** Counts a rejected request and returns the seconds. */
  rejected(level: string, nowMs: number): number
}

const MAX_SECONDS = 32

interface Rejections {
  /** How many there were in each second, the latest last. */
  history: { readonly second: number; count: number }[]
  seconds: number
  raisedAt: number
}

export function createRetryAfter(): RetryAfter {
  const levels = new Map<string, Rejections>()
  return {
    rejected(level, nowMs) {
      let of = levels.get(level)
      if (!of) levels.set(level, (of = { history: [], seconds: 1, raisedAt: 0 }))
      const second = Math.floor(nowMs / 1000)
      const last = of.history.at(-1)
      if (last?.second === second) {
        last.count++
      } else {
        adjust(of, second)
        of.history.push({ second, count: 1 })
      }
      return of.seconds
    },
  }
}

/** By what happened in the last `seconds` before this one. */
function adjust(of: Rejections, now: number): void {
  const keptSeconds = Math.min(2 * of.seconds, MAX_SECONDS)
  of.history = of.history.filter(({ second }) => now - second <= keptSeconds)
  const count = of.history.reduce((sum, each) => (now - each.second <= of.seconds ? sum + each.count : sum), 0)
  if (now - of.raisedAt >= of.seconds && count >= 3 * of.seconds) {
    of.seconds = Math.min(2 * of.seconds, MAX_SECONDS)
    of.raisedAt = now
  } else if (count < of.seconds && of.seconds > 1) {
    of.seconds--
  }
}
