// The time of day, passed in so that tests and offline commands can choose it.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const SYSTEM_CLOCK: Clock = { now: Date.now }
