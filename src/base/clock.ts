// The time of day and timers, passed in so that tests and offline commands can choose the time.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export interface TimerClock extends Clock {
  /** Milliseconds that have passed by this clock. Unlike `now`, it does not follow a change of the time of day. */
  elapsed(): number
  /** Calls `run` once, when that much time has passed by this clock. The result cancels it. */
  after(milliseconds: number, run: () => void): () => void
  /** Calls `run` each time before the clock is moved by hand, if it is one that can be. The result ends that. */
  beforeMove?(run: () => void): () => void
}

/** A timer of Node takes at most this many milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const SYSTEM_CLOCK: TimerClock = {
  now: Date.now,
  elapsed: () => performance.now(),
  after(milliseconds, run) {
    let timer: NodeJS.Timeout
    const wait = (left: number): void => {
      const next = Math.min(left, MAX_TIMER_MS)
      timer = setTimeout(() => (left > next ? wait(left - next) : run()), next).unref()
    }
    wait(milliseconds)
    return () => clearTimeout(timer)
  },
}
