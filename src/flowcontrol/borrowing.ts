// Lending and borrowing: every ten seconds the seats of the server are shared out anew, by what the requests of each level
// would have taken meanwhile.
import type { LevelLimits } from './queuing/level-spec.js'
import { allocateSeats } from './queuing/seat-allocation.js'
import type { DemandStats } from './queuing/seat-demand.js'

export interface BorrowingLevel {
  readonly isExempt: boolean
  readonly limits: LevelLimits
  readonly stats: DemandStats
  /** The seats that it has now. */
  readonly current: number
}

export interface Borrowed {
  readonly seats: readonly number[]
  /** What each level is meant to get. */
  readonly targets: readonly number[]
  readonly fairFraction: number
}

/** The seats of each level. An exempt level takes what it needs, and leaves the rest. */
export function shareSeats(levels: readonly BorrowingLevel[]): Borrowed {
  const total = sum(levels.map(({ limits }) => limits.nominal))
  const least = levels.map(({ isExempt, limits, stats }) =>
    Math.max(limits.lower, isExempt ? stats.highWatermark : Math.min(limits.nominal, stats.highWatermark)),
  )
  const targets = levels.map(({ stats }, i) => Math.max(least[i]!, stats.smoothed))
  const limited = levels.flatMap(({ isExempt }, i) => (isExempt ? [] : [i]))
  const left = total - sum(levels.map(({ isExempt }, i) => (isExempt ? least[i]! : 0)))
  const lowest = sum(limited.map(i => levels[i]!.limits.lower))
  const wanted = sum(limited.map(i => least[i]!))
  const seats = [...least]
  if (left <= lowest) {
    for (const i of limited) seats[i] = levels[i]!.limits.lower
    return { seats, targets, fairFraction: 0 }
  }
  if (left <= wanted) {
    const part = (left - lowest) / (wanted - lowest)
    for (const i of limited) {
      const { lower } = levels[i]!.limits
      seats[i] = lower + Math.round((least[i]! - lower) * part)
    }
    return { seats, targets, fairFraction: 0 }
  }
  const claims = limited.map(i => ({ target: targets[i]!, lower: least[i]!, upper: levels[i]!.limits.upper }))
  const allocation = allocateSeats(total, claims)
  for (const [at, i] of limited.entries()) seats[i] = Math.round(allocation?.seats[at] ?? levels[i]!.current)
  return { seats, targets, fairFraction: allocation?.fairFraction ?? 0 }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
