// How many requests are served at once, and how long each may take.
import type { DeadlineOptions } from './filters/deadline.js'
import type { InFlightOptions } from './filters/in-flight.js'

export interface LimitOptions extends InFlightOptions, DeadlineOptions {}

/** The defaults of kube-apiserver, which does not limit watches. */
export const DEFAULT_LIMITS: LimitOptions = {
  maxReading: 400,
  maxMutating: 200,
  maxWatches: 10_000,
  requestTimeoutMs: 60_000,
}
