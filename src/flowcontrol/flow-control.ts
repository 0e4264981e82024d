// Priority and fairness: the flow schema of a request decides its priority level, and the level decides whether the
// request is served now, waits in a queue or is rejected. An uncontended request costs a few additions.
import type { Awaitable } from '../base/awaitable.js'
import type { MetricsRegistry } from '../base/metrics.js'
import type { RequestInfo } from '../request/request-info.js'
import type { UserInfo } from '../request/user-info.js'
import { shareSeats } from './borrowing.js'
import { byPrecedence, type CompiledSchema } from './classify/flow-schema.js'
import { dealHand, hashFlow } from './classify/shuffle-sharding.js'
import { createWatchCounts } from './estimate/watch-counts.js'
import { createEstimate, type StatsOf } from './estimate/work-estimate.js'
import { type CountedFlow, type CountedLevel, createFlowMetrics } from './flow-metrics.js'
import { type LevelLimits, type LevelSpec, limitsOf, maxSeatsOf } from './queuing/level-spec.js'
import { createPriorityLevel, type LevelState, type LevelTime, type PriorityLevel } from './queuing/priority-level.js'
import { Place, type Rejection } from './queuing/queue.js'
import { createRetryAfter } from './retry-after.js'

export { type CompiledSchema, compileSchema } from './classify/flow-schema.js'
export type { ResourceStats, StatsOf } from './estimate/work-estimate.js'
export { compileLevel, type LevelSpec } from './queuing/level-spec.js'
export type { Place }

export interface FlowControlOptions {
  /** How many requests are served at once, of all levels that are limited. */
  readonly serverSeats: number
  readonly metrics: MetricsRegistry
  readonly statsOf: StatsOf
  /** Whether a watch may begin with the objects that exist. */
  readonly watchList: boolean
  /** How long a request without a deadline may wait. */
  readonly defaultWaitMs: number
  readonly time?: LevelTime | undefined
}

/** The flow schema and the priority level of a request. */
export interface Flow {
  readonly schema: CompiledSchema
  readonly flowSchemaUid: string
  readonly priorityLevelUid: string
}

export interface FlowRequest {
  readonly user: UserInfo
  readonly info: RequestInfo
  readonly flow: Flow | undefined
  /** Set while the request waits or is served. */
  place: Place | undefined
  readonly receivedAt: number
  readonly deadline: number
  readonly exchange: { onGone(gone: () => void): void }
  waitedFor(wait: 'apf-queue-wait', milliseconds: number): void
}

export interface FlowControl {
  /** The levels and schemas from now on. Those that the server cannot do without are added if they are missing. */
  configure(levels: readonly LevelSpec[], schemas: readonly CompiledSchema[]): void
  classify(user: UserInfo, info: RequestInfo): Flow | undefined
  /** Whether the request is served; if it is, `leave` must be called once. */
  enter(request: FlowRequest): Awaitable<boolean>
  /** Does nothing for a request that has no place. */
  leave(request: FlowRequest): void
  /** Counts a watch; the result forgets it. */
  addWatch(info: RequestInfo): () => void
  /** Seconds after which the client of a request that was just rejected may try again. */
  retryAfter(flow: Flow | undefined, nowMs: number): number
  /** Shares out the seats anew. To be called every `ADJUSTMENT_MS`. */
  adjust(): void
  /** For the debug pages, by name. */
  levels(): readonly ShownLevel[]
}

export interface ShownLevel {
  readonly state: LevelState
  readonly isQuiescing: boolean
}

/** The flow schema of a request, and what tells its flow apart from others. */
export function flowOfPlace({ shown, queue }: Place): { readonly schema: string; readonly distinguisher: string } {
  const { flow, user, info } = shown as FlowRequest
  return { schema: flow!.schema.name, distinguisher: queue ? flow!.schema.distinguisher(user, info) : '' }
}

export const ADJUSTMENT_MS = 10_000

const NO_HAND: readonly number[] = []
/** Flows whose queues are kept: users or namespaces. */
const MAX_HANDS = 4096

interface ActiveLevel {
  readonly level: PriorityLevel
  readonly counted: CountedLevel
  spec: LevelSpec
  limits: LevelLimits
  /** 0: not limited. */
  maxSeats: number
  current: number
  /** There is no object any more; it goes when its last request is done. */
  isQuiescing: boolean
}

interface ActiveFlow extends Flow {
  readonly active: ActiveLevel
  readonly counts: CountedFlow
  /** The queues by what tells flows apart. */
  readonly hands: Map<string, readonly number[]>
}

export function createFlowControl(
  { serverSeats, metrics, statsOf, watchList, defaultWaitMs, time = SYSTEM_TIME }: FlowControlOptions,
  mandatory: { readonly levels: readonly LevelSpec[]; readonly schemas: readonly CompiledSchema[] },
): FlowControl {
  const byName = new Map<string, ActiveLevel>()
  const flowCounts = new Map<string, CountedFlow>()
  let flows: readonly ActiveFlow[] = []
  /** Of requests that no schema matches. */
  let catchAll: ActiveFlow | undefined
  const watches = createWatchCounts()
  const estimate = createEstimate({ statsOf, watchesOf: watches.of, watchList })
  const retryAfter = createRetryAfter()
  const flowMetrics = createFlowMetrics(metrics, function* () {
    for (const [name, { level }] of byName) yield [name, level.state.currentR] as const
  })
  const { reads, writes } = flowMetrics
  const phases = { reading: 0, writing: 0, readsWaiting: 0, writesWaiting: 0 }

  function activate(spec: LevelSpec, now: number): void {
    let active = byName.get(spec.name)
    if (!active) {
      const counted = flowMetrics.level(spec.name)
      const level = createPriorityLevel(spec, counted, time)
      active = { level, counted, spec, limits: NO_LIMITS, maxSeats: 0, current: -1, isQuiescing: false }
      byName.set(spec.name, active)
    }
    active.spec = spec
    active.isQuiescing = false
    active.level.configure(spec, now)
  }

  function retire(name: string, active: ActiveLevel): void {
    active.isQuiescing = true
    const { waiting, executing } = active.level.state
    if (waiting === 0 && executing === 0) byName.delete(name)
  }

  function setLimits(): void {
    const shares = [...byName.values()].reduce((sum, { spec }) => sum + spec.shares, 0)
    for (const active of byName.values()) {
      const { spec, counted } = active
      const limits = limitsOf(spec, serverSeats, shares)
      active.limits = limits
      active.maxSeats = maxSeatsOf(spec, limits)
      counted.setLimits(limits)
      // A new level begins in the middle of what it may lend.
      if (active.current < 0) active.current = limits.nominal - Math.trunc((limits.nominal - limits.lower) / 2)
    }
  }

  function adjust(): void {
    const now = time.now()
    const levels = [...byName.values()]
    const stats = levels.map(({ level }) => level.adjustDemand(now))
    const { seats, targets, fairFraction } = shareSeats(
      levels.map(({ spec: { isExempt }, limits, current }, i) => ({ isExempt, limits, current, stats: stats[i]! })),
    )
    flowMetrics.setFairFraction(fairFraction)
    for (const [i, active] of levels.entries()) {
      const limit = seats[i]!
      active.current = limit
      active.counted.setCurrent({ ...stats[i]!, limit, target: targets[i]! })
      const denominator = limit > 0 ? limit : Math.max(1, Math.round(serverSeats / 10))
      active.level.setLimit(limit, denominator, now)
    }
  }

  function countsOf(schema: string, level: string): CountedFlow {
    const key = `${schema}\0${level}`
    let counts = flowCounts.get(key)
    if (!counts) flowCounts.set(key, (counts = flowMetrics.flow(schema, level)))
    return counts
  }

  function flowOf(schema: CompiledSchema): ActiveFlow[] {
    const active = byName.get(schema.level)
    if (!active || active.isQuiescing) return []
    let counts: CountedFlow | undefined
    return [
      {
        schema,
        flowSchemaUid: schema.uid,
        priorityLevelUid: active.spec.uid,
        active,
        // Made for the first request, so that only schemas with requests have series.
        get counts() {
          return (counts ??= countsOf(schema.name, schema.level))
        },
        hands: new Map(),
      },
    ]
  }

  function handOf({ schema, active, hands }: ActiveFlow, user: UserInfo, info: RequestInfo): readonly number[] {
    const { queuing } = active.spec
    if (!queuing) return NO_HAND
    // With one queue there is nothing to choose.
    const distinguisher = queuing.queues > 1 ? schema.distinguisher(user, info) : ''
    let hand = hands.get(distinguisher)
    if (!hand) {
      hand = dealHand(hashFlow(schema.name, distinguisher), queuing.queues, queuing.handSize)
      if (hands.size >= MAX_HANDS) hands.clear()
      hands.set(distinguisher, hand)
    }
    return hand
  }

  function countPhase(info: RequestInfo, executing: number, waiting: number, now: number): void {
    if (isReading(info)) {
      reads.executing.set((phases.reading += executing), now)
      if (waiting !== 0) reads.waiting.set((phases.readsWaiting += waiting), now)
    } else {
      writes.executing.set((phases.writing += executing), now)
      if (waiting !== 0) writes.waiting.set((phases.writesWaiting += waiting), now)
    }
  }

  function served(request: FlowRequest, { active, counts }: ActiveFlow, place: Place, waited: number): void {
    counts.dispatched.inc()
    if (waited !== 0) request.waitedFor('apf-queue-wait', place.startedAt - place.arrivedAt)
    if (!active.spec.isExempt) counts.waited().observe((place.startedAt - place.arrivedAt) / 1000)
    countPhase(request.info, 1, waited, place.startedAt)
  }

  function rejected({ active, counts }: ActiveFlow, why: Rejection, waitedMs: number): boolean {
    counts.rejected(why)
    if (!active.spec.isExempt) counts.waitedInVain().observe(waitedMs / 1000)
    return false
  }

  function wait(request: FlowRequest, flow: ActiveFlow, place: Place): Promise<boolean> {
    const { info } = request
    countPhase(info, 0, 1, place.arrivedAt)
    return new Promise(resolve => {
      const giveUp = (): void => {
        const now = time.now()
        if (!flow.active.level.cancel(place, now)) return
        clearTimeout(timer)
        request.place = undefined
        countPhase(info, 0, -1, now)
        resolve(rejected(flow, 'time-out', now - place.arrivedAt))
        removeIfUnused(flow.active)
      }
      const timer = setTimeout(giveUp, waitLimit(request, defaultWaitMs))
      place.decide = () => {
        clearTimeout(timer)
        served(request, flow, place, -1)
        resolve(true)
      }
      request.exchange.onGone(giveUp)
    })
  }

  function removeIfUnused(active: ActiveLevel): void {
    if (active.isQuiescing) retire(active.spec.name, active)
  }

  const control: FlowControl = {
    configure(levels, schemas) {
      const now = time.now()
      const all = withMandatory(levels, mandatory.levels)
      for (const spec of all) activate(spec, now)
      const names = new Set(all.map(({ name }) => name))
      for (const [name, active] of byName) if (!names.has(name)) retire(name, active)
      setLimits()
      flows = withMandatory(schemas, mandatory.schemas).toSorted(byPrecedence).flatMap(flowOf)
      catchAll = flows.find(({ schema }) => schema.name === 'catch-all')
      adjust()
    },
    classify: (user, info) => flows.find(({ schema }) => schema.matches(user, info)) ?? catchAll,
    enter(request) {
      const flow = request.flow as ActiveFlow | undefined
      if (!flow) return true
      const { info, user } = request
      const { active, counts } = flow
      const work = estimate(info, active.maxSeats)
      const now = time.now()
      const place = new Place(counts, work, now, request)
      counts.estimatedSeats.observe(place.seats)
      if (isCounted(info)) counts.watchCounts().observe(watches.of(info))
      const started = active.level.start(place, handOf(flow, user, info), now)
      if (typeof started === 'string') return rejected(flow, started, 0)
      request.place = place
      if (!started) return wait(request, flow, place)
      served(request, flow, place, 0)
      return true
    },
    leave(request) {
      const { place } = request
      if (!place) return
      request.place = undefined
      const flow = request.flow as ActiveFlow
      const { active, counts } = flow
      const now = time.now()
      active.level.finish(place, now)
      const durations = request.info.verb === 'watch' ? counts.watchBegan() : counts.executed()
      durations.observe((now - place.startedAt) / 1000)
      countPhase(request.info, -1, 0, now)
      removeIfUnused(active)
    },
    addWatch: watches.add,
    retryAfter: (flow, now) => retryAfter.rejected(flow?.schema.level ?? '', now),
    adjust,
    levels: () =>
      [...byName]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { level, isQuiescing }]) => ({ state: level.state, isQuiescing })),
  }
  control.configure([], [])
  return control
}

const NO_LIMITS: LevelLimits = { nominal: 0, lower: 0, upper: 0 }

const SYSTEM_TIME: LevelTime = {
  now: () => performance.now(),
  after: (milliseconds, run) => void setTimeout(run, milliseconds).unref(),
}

const MAX_WAIT_MS = 60_000

/** A request may wait for a quarter of its time. */
const waitLimit = ({ deadline, receivedAt }: FlowRequest, defaultMs: number): number =>
  Math.min(deadline === Infinity ? defaultMs : (deadline - receivedAt) / 4, MAX_WAIT_MS)

const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
const isReading = ({ verb }: RequestInfo): boolean => READING.has(verb)

const WRITING: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])
/** Writes whose events reach watchers. */
const isCounted = ({ isResource, verb, resource, subresource }: RequestInfo): boolean =>
  isResource && WRITING.has(verb) && !(subresource === 'token' && resource === 'serviceaccounts')

const withMandatory = <T extends { readonly name: string }>(given: readonly T[], mandatory: readonly T[]): T[] => {
  const names = new Set(given.map(({ name }) => name))
  return [...given, ...mandatory.filter(({ name }) => !names.has(name))]
}
