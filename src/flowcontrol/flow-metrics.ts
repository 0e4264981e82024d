// The metrics of priority and fairness, by kube-apiserver's names and labels. Levels and flows count in plain numbers and
// in cells that they keep; gauges are set when the page is printed.
import { once } from '../base/memo.js'
import type { Counter, Histogram, MetricsRegistry, TimingHistogram } from '../base/metrics.js'
import type { LevelMetrics, RatioGauge } from './queuing/priority-level.js'
import type { FlowCounts, Rejection } from './queuing/queue.js'

export interface FlowMetrics {
  level(name: string): CountedLevel
  flow(schema: string, level: string): CountedFlow
  setFairFraction(fraction: number): void
  /** How many requests wait and are served that only read, and that change something. */
  readonly reads: PhaseGauges
  readonly writes: PhaseGauges
}

export interface PhaseGauges {
  readonly waiting: RatioGauge
  readonly executing: RatioGauge
}

export interface CountedLevel extends LevelMetrics {
  setLimits(limits: { readonly nominal: number; readonly lower: number; readonly upper: number }): void
  setCurrent(adjusted: AdjustedLevel): void
}

export interface AdjustedLevel {
  readonly limit: number
  readonly highWatermark: number
  readonly average: number
  readonly deviation: number
  readonly smoothed: number
  readonly target: number
}

export interface CountedFlow extends FlowCounts {
  readonly dispatched: Counter
  readonly estimatedSeats: Histogram
  readonly waited: () => Histogram
  readonly waitedInVain: () => Histogram
  readonly executed: () => Histogram
  readonly watchBegan: () => Histogram
  readonly watchCounts: () => Histogram
  rejected(why: Rejection): void
}

const PREFIX = 'apiserver_flowcontrol_'
const LEVEL = ['priority_level'] as const
const FLOW = ['flow_schema', 'priority_level'] as const
const DURATIONS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

/** `currentR` is read when the page is printed. */
export function createFlowMetrics(
  metrics: MetricsRegistry,
  currentR: () => Iterable<readonly [level: string, r: number]>,
): FlowMetrics {
  const gauge = <const L extends readonly string[]>(name: string, help: string, labels: L) =>
    metrics.gauge(PREFIX + name, help, labels)
  const levels = levelFamilies(metrics)
  const flows = flowFamilies(metrics)
  const known = new Map<string, { readonly schema: string; readonly level: string; readonly counts: FlowCounts }>()
  const gauges = {
    waitingRequests: gauge(
      'current_inqueue_requests',
      'Number of requests currently pending in queues of the API Priority and Fairness subsystem',
      FLOW,
    ),
    waitingSeats: gauge(
      'current_inqueue_seats',
      'Number of seats currently pending in queues of the API Priority and Fairness subsystem',
      FLOW,
    ),
    executingRequests: gauge(
      'current_executing_requests',
      'Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem',
      FLOW,
    ),
    executingSeats: gauge(
      'current_executing_seats',
      'Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem',
      FLOW,
    ),
  }
  // Older names, which dashboards still use.
  const concurrency = gauge(
    'request_concurrency_in_use',
    'Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem',
    FLOW,
  )
  const mostWaiting = metrics.gauge(
    'apiserver_current_inqueue_requests',
    'Most requests that waited in queues at the same time since this page was made last, per request kind.',
    ['request_kind'],
  )
  const meter = gauge('current_r', 'R(time of last change)', LEVEL)
  const fair = gauge(
    'seat_fair_frac',
    "Fair fraction of server's concurrency to allocate to each priority level that can use it",
    [],
  )
  const phases = metrics.timingHistogram(
    `${PREFIX}read_vs_write_current_requests`,
    'Observations, at the end of every nanosecond, of the number of requests (as a fraction of the relevant limit) waiting or in regular stage of execution',
    ['phase', 'request_kind'],
    [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
  )
  metrics.onCollect(() => {
    for (const [level, r] of currentR()) meter.with(level).set(r)
    for (const { schema, level, counts } of known.values()) {
      for (const name of Object.keys(gauges) as (keyof typeof gauges)[]) {
        gauges[name].with(schema, level).set(counts[name])
      }
      concurrency.with(schema, level).set(counts.executingSeats)
    }
  })
  function phasesOf(kind: string): PhaseGauges {
    const waiting = asRatio(phases.with('waiting', kind))
    let [now, most] = [0, 0]
    metrics.onCollect(() => {
      mostWaiting.with(kind).set(most)
      most = now
    })
    return {
      waiting: {
        ...waiting,
        set(value, at) {
          now = value
          most = Math.max(most, value)
          waiting.set(value, at)
        },
      },
      executing: asRatio(phases.with('executing', kind)),
    }
  }

  return {
    level: levels,
    flow(schema, level) {
      const counted = flows(schema, level)
      known.set(`${schema}\0${level}`, { schema, level, counts: counted })
      return counted
    },
    setFairFraction: fraction => fair.with().set(fraction),
    reads: phasesOf('readOnly'),
    writes: phasesOf('mutating'),
  }
}

function levelFamilies(metrics: MetricsRegistry): (name: string) => CountedLevel {
  const gauge = (name: string, help: string) => metrics.gauge(PREFIX + name, help, LEVEL)
  const bounded = (name: string, help: string) => metrics.gauge(PREFIX + name, help, ['bound', 'priority_level'])
  const nominal = gauge('nominal_limit_seats', 'Nominal number of execution seats configured for each priority level')
  const concurrency = gauge(
    'request_concurrency_limit',
    'Nominal number of execution seats configured for each priority level',
  )
  const lower = gauge(
    'lower_limit_seats',
    'Configured lower bound on number of execution seats available to each priority level',
  )
  const upper = gauge(
    'upper_limit_seats',
    'Configured upper bound on number of execution seats available to each priority level',
  )
  const current = gauge(
    'current_limit_seats',
    'current derived number of execution seats available to each priority level',
  )
  const high = gauge('demand_seats_high_watermark', 'High watermark, over last adjustment period, of demand_seats')
  const average = gauge('demand_seats_average', 'Time-weighted average, over last adjustment period, of demand_seats')
  const deviation = gauge(
    'demand_seats_stdev',
    'Time-weighted standard deviation, over last adjustment period, of demand_seats',
  )
  const smoothed = gauge('demand_seats_smoothed', 'Smoothed seat demands')
  const target = gauge('target_seats', 'Seat allocation targets')
  const dispatchR = gauge('dispatch_r', 'R(time of last dispatch)')
  const latest = gauge('latest_s', 'S(most recently dispatched request)')
  const next = bounded('next_s_bounds', 'min and max, over queues, of S(oldest waiting request in queue)')
  const discounted = bounded(
    'next_discounted_s_bounds',
    'min and max, over queues, of S(oldest waiting request in queue) - estimated work in progress',
  )
  const requests = metrics.timingHistogram(
    `${PREFIX}priority_level_request_utilization`,
    'Observations, at the end of every nanosecond, of number of requests (as a fraction of the relevant limit) waiting or in any stage of execution (but only initial stage for WATCHes)',
    ['phase', 'priority_level'],
    [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1],
  )
  const seats = metrics.timingHistogram(
    `${PREFIX}priority_level_seat_utilization`,
    'Observations, at the end of every nanosecond, of utilization of seats for any stage of execution (but only initial stage for WATCHes)',
    ['phase', 'priority_level'],
    [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
  )
  const demand = metrics.timingHistogram(
    `${PREFIX}demand_seats`,
    'Observations, at the end of every nanosecond, of (the number of seats each priority level could use) / (nominal number of seats for that level)',
    LEVEL,
    [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6],
  )
  return name => ({
    waitingRequests: asRatio(requests.with('waiting', name)),
    executingRequests: asRatio(requests.with('executing', name)),
    executingSeats: asRatio(seats.with('executing', name)),
    demandedSeats: asRatio(demand.with(name)),
    dispatched(reading) {
      dispatchR.with(name).set(reading.r)
      latest.with(name).set(reading.latest)
      next.with('min', name).set(reading.least)
      next.with('max', name).set(reading.most)
      discounted.with('min', name).set(reading.leastDiscounted)
      discounted.with('max', name).set(reading.mostDiscounted)
    },
    setLimits(limits) {
      nominal.with(name).set(limits.nominal)
      concurrency.with(name).set(limits.nominal)
      lower.with(name).set(limits.lower)
      upper.with(name).set(limits.upper)
    },
    setCurrent(adjusted) {
      current.with(name).set(adjusted.limit)
      high.with(name).set(adjusted.highWatermark)
      average.with(name).set(adjusted.average)
      deviation.with(name).set(adjusted.deviation)
      smoothed.with(name).set(adjusted.smoothed)
      target.with(name).set(adjusted.target)
    },
  })
}

function flowFamilies(metrics: MetricsRegistry): (schema: string, level: string) => CountedFlow {
  const counter = <const L extends readonly string[]>(name: string, help: string, labels: L) =>
    metrics.counter(PREFIX + name, help, labels)
  const histogram = <const L extends readonly string[]>(
    name: string,
    help: string,
    labels: L,
    buckets: readonly number[],
  ) => metrics.histogram(PREFIX + name, help, labels, buckets)
  const dispatched = counter(
    'dispatched_requests_total',
    'Number of requests executed by API Priority and Fairness subsystem',
    FLOW,
  )
  const rejected = counter(
    'rejected_requests_total',
    'Number of requests rejected by API Priority and Fairness subsystem',
    [...FLOW, 'reason'] as const,
  )
  const unplaced = counter(
    'request_dispatch_no_accommodation_total',
    'Number of times a dispatch attempt resulted in a non accommodation due to lack of available seats',
    FLOW,
  )
  const lengths = histogram(
    'request_queue_length_after_enqueue',
    'Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is enqueued',
    FLOW,
    [0, 10, 25, 50, 100, 250, 500, 1000],
  )
  const waited = histogram(
    'request_wait_duration_seconds',
    'Length of time a request spent waiting in its queue',
    ['execute', ...FLOW] as const,
    DURATIONS,
  )
  const executed = histogram(
    'request_execution_seconds',
    'Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the API Priority and Fairness subsystem',
    [...FLOW, 'type'] as const,
    DURATIONS,
  )
  const watches = histogram(
    'watch_count_samples',
    'count of watchers for mutating requests in API Priority and Fairness',
    FLOW,
    [0, 1, 10, 100, 1000, 10000],
  )
  const estimated = histogram(
    'work_estimated_seats',
    'Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and Fairness',
    FLOW,
    [1, 2, 4, 8, 16, 32, 64, 100],
  )
  return (schema, level) => {
    const length = once(() => lengths.with(schema, level))
    return {
      waitingRequests: 0,
      waitingSeats: 0,
      executingRequests: 0,
      executingSeats: 0,
      queued: count => length().observe(count),
      notAccommodated: () => unplaced.with(schema, level).inc(),
      dispatched: dispatched.with(schema, level),
      estimatedSeats: estimated.with(schema, level),
      waited: once(() => waited.with('true', schema, level)),
      waitedInVain: once(() => waited.with('false', schema, level)),
      executed: once(() => executed.with(schema, level, 'regular')),
      watchBegan: once(() => executed.with(schema, level, 'watch')),
      watchCounts: once(() => watches.with(schema, level)),
      rejected: why => rejected.with(schema, level, why).inc(),
    }
  }
}

function asRatio(histogram: TimingHistogram): RatioGauge {
  let numerator = 0
  let denominator = 1
  return {
    set(next, now) {
      numerator = next
      histogram.set(next / denominator, now)
    },
    setDenominator(next, now) {
      denominator = next
      histogram.set(numerator / next, now)
    },
  }
}
