// What all controllers have in common: a work queue whose failures are logged, counted and retried with a growing delay,
// under client-go's names for its metrics.
import { SYSTEM_CLOCK, type TimerClock } from '../../base/clock.js'
import { type Logger, NO_LOGGER } from '../../base/logger.js'
import { createMetrics, type MetricsRegistry } from '../../base/metrics.js'
import { createWorkQueue, MAX_CONCURRENT, type QueueHooks, type WorkQueue } from './work-queue.js'

/** A controller that runs. */
export interface Controller {
  /** Resolves when there is nothing to do at the moment. */
  idle(): Promise<void>
  stop(): void
}

/** What the server gives to its controllers. */
export interface ControllerEnv {
  readonly log: Logger
  readonly metrics: MetricsRegistry
  /** The server's clock, by which delays pass. */
  readonly clock: TimerClock
  /** From 0 to 1, for delays. */
  readonly random: () => number
}

/** For tests: nothing is logged, delays are the same each time. */
export const quietEnv = (clock: TimerClock = SYSTEM_CLOCK): ControllerEnv => ({
  log: NO_LOGGER,
  metrics: createMetrics(),
  clock,
  random: () => 0.5,
})

/** Waits for the first read of an informer. If that fails, the informer logs it and tries again by itself. */
export const whenRead = (started: Promise<void>): Promise<void> => started.catch(() => {})

const FIRST_RETRY_MS = 20
const MAX_RETRY_MS = 30_000
/** A delay is up to this part longer or shorter, so that keys that failed together are not all retried together. */
const JITTER = 0.2
/** Fewer failures in a row are normal: another writer was faster, or an object that is needed comes next. */
const LOGGED_FROM = 3

/** The queue of a controller. `reconcile` rejects when the key is to be tried again. */
export function createControllerQueue(
  name: string,
  { log, metrics, clock, random }: ControllerEnv,
  reconcile: (key: string) => Promise<void>,
  concurrency = MAX_CONCURRENT,
): WorkQueue {
  const controllerLog = log.child({ controller: name })
  const { retries, ...hooks } = countQueue(metrics, name)
  const queue = createWorkQueue(
    reconcile,
    {
      ...hooks,
      retryAfter(key, error, failures) {
        const ms = retryDelay(failures, random())
        retries.inc()
        const line = failures >= LOGGED_FROM ? controllerLog.warn : controllerLog.debug
        line('reconciling failed and will be tried again', { key, failures, retryMs: ms, error })
        return ms
      },
    },
    concurrency,
    clock,
  )
  measureRunning(metrics, name, queue)
  return queue
}

/** Of what is worked on when the page is printed. */
function measureRunning(metrics: MetricsRegistry, name: string, queue: WorkQueue): void {
  const unfinished = metrics.gauge(
    'workqueue_unfinished_work_seconds',
    "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
    ['name'],
  )
  const longest = metrics.gauge(
    'workqueue_longest_running_processor_seconds',
    'How many seconds has the longest running processor for workqueue been running.',
    ['name'],
  )
  metrics.onCollect(() => {
    const now = performance.now()
    const seconds = Array.from(queue.running(), since => (now - since) / 1000)
    unfinished.with(name).set(seconds.reduce((sum, each) => sum + each, 0))
    longest.with(name).set(Math.max(0, ...seconds))
  })
}

export const retryDelay = (failures: number, random: number): number =>
  Math.round(Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)) * (1 - JITTER + 2 * JITTER * random))

/** From 10 ns to 10 s, as client-go has them. */
const BUCKETS = Array.from({ length: 10 }, (_, i) => Number(`1e${i - 8}`))

function countQueue(metrics: MetricsRegistry, name: string) {
  const labels = ['name'] as const
  const depth = metrics.gauge('workqueue_depth', 'Current depth of workqueue', labels).with(name)
  const adds = metrics.counter('workqueue_adds_total', 'Total number of adds handled by workqueue', labels).with(name)
  const retries = metrics
    .counter('workqueue_retries_total', 'Total number of retries handled by workqueue', labels)
    .with(name)
  const waited = metrics
    .histogram(
      'workqueue_queue_duration_seconds',
      'How long in seconds an item stays in workqueue before being requested.',
      labels,
      BUCKETS,
    )
    .with(name)
  const worked = metrics
    .histogram(
      'workqueue_work_duration_seconds',
      'How long in seconds processing an item from workqueue takes.',
      labels,
      BUCKETS,
    )
    .with(name)
  const hooks: Omit<QueueHooks, 'retryAfter'> = {
    onAdd(size) {
      adds.inc()
      depth.set(size)
    },
    onStart(size, waitedMs) {
      depth.set(size)
      waited.observe(waitedMs / 1000)
    },
    onDone: tookMs => worked.observe(tookMs / 1000),
  }
  return { ...hooks, retries }
}
