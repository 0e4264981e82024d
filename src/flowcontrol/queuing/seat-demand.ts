// How many seats the requests of a level would take if there were enough: the highest number, the average over time and
// its deviation since the last adjustment. The smoothed value follows a rise at once and a fall slowly.

export interface SeatDemand {
  set(seats: number, nowMs: number): void
  /** Ends the period and begins the next one. */
  adjust(nowMs: number): DemandStats
}

export interface DemandStats {
  readonly highWatermark: number
  readonly average: number
  readonly deviation: number
  readonly smoothed: number
}

const SMOOTHING = 0.977
const [SINCE, ELAPSED, SUM, SQUARES] = [0, 1, 2, 3]
const NOTHING: DemandStats = { highWatermark: 0, average: 0, deviation: 0, smoothed: 0 }

export function createSeatDemand(startMs: number): SeatDemand {
  let seats = 0
  let highest = 0
  let stats = NOTHING
  // In an array of numbers, because a variable of a closure would be a new number on the heap at each change.
  const state = new Float64Array(4)
  state[SINCE] = startMs

  function addUntil(now: number): void {
    const ms = now - state[SINCE]!
    state[SINCE] = now
    state[ELAPSED]! += ms
    state[SUM]! += seats * ms
    state[SQUARES]! += seats * seats * ms
  }

  return {
    set(next, now) {
      addUntil(now)
      seats = next
      if (next > highest) highest = next
    },
    adjust(now) {
      addUntil(now)
      const elapsed = state[ELAPSED]!
      if (elapsed > 0) {
        const average = state[SUM]! / elapsed
        const deviation = Math.sqrt(Math.max(0, state[SQUARES]! / elapsed - average * average))
        const envelope = average + deviation
        const smoothed = Math.max(envelope, SMOOTHING * stats.smoothed + (1 - SMOOTHING) * envelope)
        stats = { highWatermark: highest, average, deviation, smoothed }
      } else {
        stats = { ...stats, highWatermark: highest }
      }
      state.fill(0, ELAPSED)
      highest = seats
      return stats
    },
  }
}
