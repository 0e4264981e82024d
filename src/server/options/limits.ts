// How many requests are served at once, and how long they may take.
import type { LimitOptions as RequestLimits } from '../../http/limits.js'
import type { FlagTable, FlagValues } from './flag.js'
import { count, duration } from './flag-values.js'

export interface LimitOptions {
  readonly requests?: Partial<RequestLimits> | undefined
  /** How long a watch lasts at least when its client does not say. */
  readonly minRequestTimeoutMs?: number | undefined
}

export const limitFlags = {
  'max-requests-inflight': count('how many reading requests are served at once; 0 sets no limit', 400),
  'max-mutating-requests-inflight': count('how many writing requests are served at once; 0 sets no limit', 200),
  'request-timeout': duration('how long a request may take that is not a watch', 60_000),
  'min-request-timeout': count('how many seconds a watch lasts at least when its client does not say', 1800),
} satisfies FlagTable

export const limitsFromFlags = (flags: FlagValues<typeof limitFlags>): LimitOptions => ({
  requests: {
    maxReading: flags['max-requests-inflight'],
    maxMutating: flags['max-mutating-requests-inflight'],
    requestTimeoutMs: flags['request-timeout'],
  },
  minRequestTimeoutMs: flags['min-request-timeout'] * 1000,
})
