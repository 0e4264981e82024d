// How many requests are served at once, and how long they may take.
import { UsageError } from '../../base/usage-error.js'
import { DEFAULT_LIMITS, type LimitOptions as RequestLimits } from '../../http/limits.js'
import type { FlagTable, FlagValues } from './flag.js'
import { count, duration, toggle } from './flag-values.js'

export interface LimitOptions {
  /** Whether flow schemas and priority levels decide; otherwise each of the two limits holds. The default is true. */
  readonly priorityAndFairness?: boolean | undefined
  readonly requests?: Partial<RequestLimits> | undefined
  /** How long a watch lasts at least when its client does not say. */
  readonly minRequestTimeoutMs?: number | undefined
}

export const limitFlags = {
  'enable-priority-and-fairness': toggle(
    'let FlowSchemas and PriorityLevelConfigurations decide which requests are served, wait or are rejected',
    true,
  ),
  'max-requests-inflight': count(
    'how many requests are served at once, together with --max-mutating-requests-inflight; without priority and fairness: how many reading requests, and 0 sets no limit',
    400,
  ),
  'max-mutating-requests-inflight': count(
    'how many more requests are served at once; without priority and fairness: how many writing requests, and 0 sets no limit',
    200,
  ),
  'request-timeout': duration('how long a request may take that is not a watch', 60_000),
  'min-request-timeout': count('how many seconds a watch lasts at least when its client does not say', 1800),
} satisfies FlagTable

export const limitsFromFlags = (flags: FlagValues<typeof limitFlags>): LimitOptions => ({
  priorityAndFairness: withSeats(flags),
  requests: {
    maxReading: flags['max-requests-inflight'],
    maxMutating: flags['max-mutating-requests-inflight'],
    requestTimeoutMs: flags['request-timeout'],
  },
  minRequestTimeoutMs: flags['min-request-timeout'] * 1000,
})

function withSeats(flags: FlagValues<typeof limitFlags>): boolean {
  const isOn = flags['enable-priority-and-fairness']
  if (isOn && flags['max-requests-inflight'] + flags['max-mutating-requests-inflight'] === 0) {
    throw new UsageError(
      '--max-requests-inflight and --max-mutating-requests-inflight must add up to something positive, or --enable-priority-and-fairness must be false',
    )
  }
  return isOn
}

/** Without seats to share out there are only the limits, which are none then. */
export function hasPriorityAndFairness({ priorityAndFairness = true, requests }: LimitOptions): boolean {
  const { maxReading, maxMutating } = { ...DEFAULT_LIMITS, ...requests }
  return priorityAndFairness && maxReading + maxMutating > 0
}
