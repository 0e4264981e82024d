// A priority level: its seats, its queues, and which request is next. This is fair queuing: a meter R counts the
// seat-seconds that each queue with requests is entitled to, and the queue is next whose oldest request would be done
// first by that meter. A request that finds a free seat is served at once.
import type { LevelSpec, QueuingSpec } from './level-spec.js'
import {
  addTo,
  boundNextDispatch,
  createQueue,
  EXPECTED_SECONDS,
  isIdle,
  join,
  leave,
  oldestOf,
  Place,
  type Queue,
  type Rejection,
  removeFrom,
} from './queue.js'
import { createSeatDemand, type DemandStats } from './seat-demand.js'

/** A value as a part of another one, observed over time. */
export interface RatioGauge {
  set(numerator: number, nowMs: number): void
  setDenominator(denominator: number, nowMs: number): void
}

export interface LevelMetrics {
  readonly waitingRequests: RatioGauge
  readonly executingRequests: RatioGauge
  readonly executingSeats: RatioGauge
  readonly demandedSeats: RatioGauge
  dispatched(reading: DispatchReading): void
}

/** Readings of the meter when a request was taken from a queue. */
export interface DispatchReading {
  readonly r: number
  readonly latest: number
  readonly least: number
  readonly most: number
  readonly leastDiscounted: number
  readonly mostDiscounted: number
}

export interface PriorityLevel {
  readonly state: LevelState
  configure(spec: LevelSpec, now: number): void
  /** Sets the seats; `denominator` is what their use is a part of. */
  setLimit(seats: number, denominator: number, now: number): void
  /** True if the request is served now, false if it must wait; else why it is rejected. `hand` are its queues. */
  start(place: Place, hand: readonly number[], now: number): boolean | Rejection
  /** Takes a request that waits out of its queue. False if it does not wait any more. */
  cancel(place: Place, now: number): boolean
  /** The request was served. */
  finish(place: Place, now: number): void
  adjustDemand(now: number): DemandStats
}

/** As the debug pages show it. */
export interface LevelState {
  spec: LevelSpec
  limit: number
  queues: Queue[]
  /** Requests that are served and have no queue. */
  readonly queueless: Place[]
  currentR: number
  waiting: number
  seatsWaiting: number
  executing: number
  seatsInUse: number
  dispatched: number
  rejected: number
  cancelled: number
}

/** Time in milliseconds that only grows, and timers, for seats that stay taken. */
export interface LevelTime {
  now(): number
  after(milliseconds: number, run: () => void): void
}

export function createPriorityLevel(spec: LevelSpec, metrics: LevelMetrics, time: LevelTime): PriorityLevel {
  const startedAt = time.now()
  const state: LevelState = {
    spec,
    limit: 0,
    queues: [],
    queueless: [],
    currentR: 0,
    waiting: 0,
    seatsWaiting: 0,
    executing: 0,
    seatsInUse: 0,
    dispatched: 0,
    rejected: 0,
    cancelled: 0,
  }
  const demand = createSeatDemand(startedAt)
  let queuing: QueuingSpec | undefined
  let activeQueues = 0
  /** Seats of requests that have a queue, whether they wait or are served. */
  let queuedSeats = 0
  let lastSync = startedAt
  let lastQueue = 0
  let joined = 0

  /** Moves the meter on: to be called before anything changes. */
  function sync(now: number): void {
    if (activeQueues > 0) {
      state.currentR += ((Math.min(queuedSeats, state.limit) / activeQueues) * (now - lastSync)) / 1000
    }
    lastSync = now
  }

  function noteDemand(now: number): void {
    const seats = state.seatsInUse + state.seatsWaiting
    demand.set(seats, now)
    metrics.demandedSeats.set(seats, now)
  }

  function canTake(seats: number): boolean {
    if (state.spec.isExempt) return true
    // A request that is wider than the level is served alone.
    if (seats > state.limit) return state.executing === 0
    return state.seatsInUse + seats <= state.limit
  }

  /** The queue of the hand with the least work. The first that is looked at changes, so that no queue is preferred. */
  function chooseQueue(hand: readonly number[]): Queue {
    const offset = joined++ % hand.length
    let best = state.queues[hand[offset]!]!
    for (let i = 1; i < hand.length && best.waitingWork > 0; i++) {
      const queue = state.queues[hand[(offset + i) % hand.length]!]!
      if (queue.waitingWork < best.waitingWork) best = queue
    }
    return best
  }

  function execute(place: Place, now: number): void {
    const { queue, counts, seats } = place
    place.startedAt = now
    state.executing++
    state.seatsInUse += seats
    state.dispatched++
    counts.executingRequests++
    counts.executingSeats += seats
    if (queue) {
      addTo(queue.executing, place)
      queue.seatsInUse += seats
      queue.nextDispatchR += place.work
    } else {
      addTo(state.queueless, place)
    }
    metrics.executingRequests.set(state.executing, now)
    metrics.executingSeats.set(state.seatsInUse, now)
    noteDemand(now)
  }

  function activate(queue: Queue): void {
    if (!isIdle(queue)) return
    activeQueues++
    queue.nextDispatchR = state.currentR
  }

  function wait(place: Place, queue: Queue, now: number): void {
    join(queue, place)
    state.waiting++
    state.seatsWaiting += place.seats
    place.counts.waitingRequests++
    place.counts.waitingSeats += place.seats
    metrics.waitingRequests.set(state.waiting, now)
    noteDemand(now)
  }

  function stopWaiting(place: Place, queue: Queue, now: number): void {
    leave(queue, place)
    state.waiting--
    state.seatsWaiting -= place.seats
    place.counts.waitingRequests--
    place.counts.waitingSeats -= place.seats
    metrics.waitingRequests.set(state.waiting, now)
  }

  function dispatchAll(now: number): void {
    while (state.waiting > 0 && state.seatsInUse < state.limit && dispatchOne(now));
  }

  function dispatchOne(now: number): boolean {
    const next = findNext()
    if (!next) return false
    const { queue, place, reading } = next
    if (!canTake(place.seats)) {
      place.counts.notAccommodated()
      return false
    }
    lastQueue = queue.index
    metrics.dispatched({ ...reading, r: state.currentR, latest: queue.nextDispatchR })
    stopWaiting(place, queue, now)
    execute(place, now)
    boundNextDispatch(queue)
    const { decide } = place
    place.decide = undefined
    decide?.(true)
    return true
  }

  /** Begins after the queue that was last, so that of two that are equal the other one is next. */
  function findNext() {
    const { queues } = state
    let found: { readonly queue: Queue; readonly place: Place } | undefined
    let earliest = Infinity
    const reading = { least: Infinity, most: -Infinity, leastDiscounted: Infinity, mostDiscounted: -Infinity }
    for (let i = 1; i <= queues.length; i++) {
      const queue = queues[(lastQueue + i) % queues.length]!
      if (queue.waiting.size === 0) continue
      const place = oldestOf(queue)!
      const discounted = queue.nextDispatchR - queue.seatsInUse * EXPECTED_SECONDS
      reading.least = Math.min(reading.least, queue.nextDispatchR)
      reading.most = Math.max(reading.most, queue.nextDispatchR)
      reading.leastDiscounted = Math.min(reading.leastDiscounted, discounted)
      reading.mostDiscounted = Math.max(reading.mostDiscounted, discounted)
      const end = queue.nextDispatchR + place.work
      if (end >= earliest) continue
      earliest = end
      found = { queue, place }
    }
    return found && { ...found, reading }
  }

  function release(place: Place, now: number): void {
    const { queue, seats } = place
    state.seatsInUse -= seats
    place.counts.executingSeats -= seats
    metrics.executingSeats.set(state.seatsInUse, now)
    noteDemand(now)
    if (!queue) return
    queue.seatsInUse -= seats
    queuedSeats -= seats
    removeIfSpare(queue)
  }

  /** Queues that the level has no more go when they are empty. */
  function removeIfSpare(queue: Queue): void {
    if (state.queues.length <= (queuing?.queues ?? 0) || !isIdle(queue) || queue.seatsInUse > 0) return
    state.queues.splice(queue.index, 1)
    for (const [i, each] of state.queues.entries()) each.index = i
    if (lastQueue >= queue.index && lastQueue > 0) lastQueue--
  }

  return {
    state,
    configure(next, now) {
      sync(now)
      state.spec = next
      ;({ queuing } = next)
      for (let i = state.queues.length; i < (queuing?.queues ?? 0); i++) state.queues.push(createQueue(i))
      const places = Math.max(1, queuing?.queueLengthLimit ?? 1) * Math.max(1, queuing?.queues ?? 1)
      metrics.waitingRequests.setDenominator(places, now)
    },
    setLimit(seats, denominator, now) {
      sync(now)
      state.limit = seats
      metrics.executingRequests.setDenominator(denominator, now)
      metrics.executingSeats.setDenominator(denominator, now)
      metrics.demandedSeats.setDenominator(denominator, now)
      dispatchAll(now)
    },
    start(place, hand, now) {
      sync(now)
      place.arrivalR = state.currentR
      if (!queuing) {
        if (!canTake(place.seats)) return reject('concurrency-limit')
        execute(place, now)
        return true
      }
      const queue = chooseQueue(hand)
      if (state.seatsInUse >= state.limit && queue.waiting.size >= queuing.queueLengthLimit) return reject('queue-full')
      activate(queue)
      place.queue = queue
      queuedSeats += place.seats
      if (state.waiting === 0 && state.seatsInUse < state.limit && canTake(place.seats)) {
        place.counts.queued(1)
        lastQueue = queue.index
        execute(place, now)
        return true
      }
      wait(place, queue, now)
      place.counts.queued(queue.waiting.size)
      boundNextDispatch(queue)
      dispatchAll(now)
      return !queue.waiting.has(place)
    },
    cancel(place, now) {
      const { queue } = place
      if (!queue?.waiting.has(place)) return false
      sync(now)
      stopWaiting(place, queue, now)
      queuedSeats -= place.seats
      if (isIdle(queue)) activeQueues--
      state.rejected++
      state.cancelled++
      noteDemand(now)
      boundNextDispatch(queue)
      // A wide request may have held up those behind it.
      dispatchAll(now)
      return true
    },
    finish(place, now) {
      sync(now)
      const { queue, counts, estimate } = place
      state.executing--
      counts.executingRequests--
      metrics.executingRequests.set(state.executing, now)
      if (queue) {
        removeFrom(queue.executing, place)
        const took = (now - place.startedAt) / 1000
        queue.nextDispatchR -= estimate.initialSeats * (EXPECTED_SECONDS - took)
        boundNextDispatch(queue)
        if (isIdle(queue)) activeQueues--
      } else {
        removeFrom(state.queueless, place)
      }
      if (estimate.additionalMs > 0) {
        time.after(estimate.additionalMs, () => {
          const then = time.now()
          sync(then)
          release(place, then)
          dispatchAll(then)
        })
      } else {
        release(place, now)
      }
      if (state.waiting > 0) dispatchAll(now)
    },
    adjustDemand: now => demand.adjust(now),
  }

  function reject(why: Rejection): Rejection {
    state.rejected++
    return why
  }
}

export { Place }
