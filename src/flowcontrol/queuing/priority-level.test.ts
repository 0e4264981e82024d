import { expect, test } from 'vitest'
import { ONE_SEAT, type WorkEstimate } from '../estimate/work-estimate.js'
import type { LevelSpec } from './level-spec.js'
import { createPriorityLevel, type LevelMetrics, type RatioGauge } from './priority-level.js'
import { type FlowCounts, Place } from './queue.js'

const gauge: RatioGauge = { set() {}, setDenominator() {} }
const METRICS: LevelMetrics = {
  waitingRequests: gauge,
  executingRequests: gauge,
  executingSeats: gauge,
  demandedSeats: gauge,
  dispatched() {},
}
const SPEC: LevelSpec = {
  name: 'l',
  uid: '',
  isExempt: false,
  shares: 1,
  lendablePercent: 0,
  borrowingPercent: undefined,
  queuing: { queues: 4, handSize: 1, queueLengthLimit: 2 },
}

/** A level with a clock that stands still until it is moved. */
function world(spec: Partial<LevelSpec>, seats: number) {
  let now = 1
  const timers: { readonly at: number; readonly run: () => void }[] = []
  const time = { now: () => now, after: (ms: number, run: () => void) => void timers.push({ at: now + ms, run }) }
  const all = { ...SPEC, ...spec }
  const level = createPriorityLevel(all, METRICS, time)
  level.configure(all, now)
  level.setLimit(seats, 1, now)
  const served: string[] = []
  return {
    level,
    served,
    pass(ms: number) {
      now += ms
      for (const { at, run } of timers.splice(0)) if (at <= now) run()
    },
    /** A request of a flow with one queue. */
    start(name: string, queue: number, estimate: WorkEstimate = ONE_SEAT) {
      const place = new Place(noCounts(), estimate, now, { user: { name }, info: {} as never })
      place.decide = isServed => {
        if (isServed) served.push(name)
      }
      const result = level.start(place, [queue], now)
      if (result === true && place.decide) place.decide(true)
      return { place, result, finish: () => level.finish(place, now), cancel: () => level.cancel(place, now) }
    },
  }
}

const noCounts = (): FlowCounts => ({
  waitingRequests: 0,
  waitingSeats: 0,
  executingRequests: 0,
  executingSeats: 0,
  queued() {},
  notAccommodated() {},
})

test('a request that finds no seat waits, and one that finds its queue full is rejected', () => {
  const { start, level } = world({}, 1)
  const results = ['a', 'a', 'a', 'a'].map(name => start(name, 0).result)
  expect(results).toEqual([true, false, false, 'queue-full'])
  expect(start('b', 1).result).toBe(false)
  expect(level.state).toMatchObject({ executing: 1, seatsInUse: 1, waiting: 3, rejected: 1 })
})

test('without queues a request that finds no seat is rejected', () => {
  const { start } = world({ queuing: undefined }, 2)
  expect([1, 2, 3].map(() => start('a', 0).result)).toEqual([true, true, 'concurrency-limit'])
})

test('an exempt level has no limit', () => {
  const { start } = world({ isExempt: true, queuing: undefined }, 0)
  expect([1, 2, 3].map(() => start('a', 0).result)).toEqual([true, true, true])
})

test('queues take turns, however many requests each has', () => {
  const { start, served, pass, level } = world({ queuing: { queues: 4, handSize: 1, queueLengthLimit: 50 } }, 1)
  const first = start('elephant', 0)
  const waiting = [...Array.from({ length: 10 }, () => start('elephant', 0)), start('mouse', 1), start('mouse', 1)]
  let current = first
  for (let i = 0; i < 5; i++) {
    pass(10)
    current.finish()
    current = waiting.find(
      ({ place }) => place.startedAt > 0 && level.state.queues.some(q => q.executing.includes(place)),
    )!
  }
  expect(served.slice(0, 5).filter(name => name === 'mouse')).toHaveLength(2)
})

test('a request that waits can be cancelled once', () => {
  const { start, level } = world({}, 1)
  const [running, waiting] = [start('a', 0), start('a', 0)]
  expect([waiting.cancel(), waiting.cancel(), running.cancel()]).toEqual([true, false, false])
  expect(level.state).toMatchObject({ waiting: 0, seatsWaiting: 0, cancelled: 1 })
})

test('a wide request waits for its seats, and one that is wider than the level is served alone', () => {
  const wide = (initialSeats: number): WorkEstimate => ({ ...ONE_SEAT, initialSeats })
  const { start, served } = world({}, 3)
  const small = start('small', 0)
  expect([start('wide', 1, wide(3)).result, start('later', 2).result]).toEqual([false, true])
  small.finish()
  expect(served).toEqual(['small', 'later'])
  const alone = world({}, 2)
  expect(alone.start('giant', 0, wide(5)).result).toBe(true)
})

test('seats of a write stay taken for a moment', () => {
  const { start, pass, level, served } = world({}, 2)
  const write = start('write', 0, { initialSeats: 1, finalSeats: 2, additionalMs: 5 })
  const next = start('next', 1)
  write.finish()
  expect([level.state.executing, level.state.seatsInUse, next.result]).toEqual([0, 2, false])
  pass(5)
  expect(served).toEqual(['write', 'next'])
})

test('a level with more seats serves those that wait, and spare queues go when they are empty', () => {
  const { start, level, served } = world({}, 1)
  const all = [start('a', 3), start('b', 2), start('c', 1)]
  level.setLimit(3, 1, 1)
  expect(served).toEqual(['a', 'c', 'b'])
  level.configure({ ...SPEC, queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } }, 1)
  for (const each of all) each.finish()
  expect(level.state.queues).toHaveLength(1)
  expect(start('d', 0).result).toBe(true)
})
