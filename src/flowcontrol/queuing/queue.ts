// One queue of a priority level, and the place of a request in a level.
import type { RequestInfo } from '../../request/request-info.js'
import type { WorkEstimate } from '../estimate/work-estimate.js'

/** Seconds that a request is expected to take; fair queuing corrects it when the request is done. */
export const EXPECTED_SECONDS = 0.003

/** Why a request got no seat. */
export type Rejection = 'concurrency-limit' | 'queue-full' | 'time-out'

/** What a level counts of the requests of one flow schema. */
export interface FlowCounts {
  waitingRequests: number
  waitingSeats: number
  executingRequests: number
  executingSeats: number
  /** How many requests are in a queue when one has joined it. */
  queued(length: number): void
  notAccommodated(): void
}

export interface ShownRequest {
  readonly user: { readonly name: string }
  readonly info: RequestInfo
}

/** The place of one request: it waits, is served, and may keep its seats for a moment. A class, since each request has one. */
export class Place {
  /** Undefined in a level without queues. */
  queue: Queue | undefined
  /** The meter of fair queuing when the request arrived. */
  arrivalR = 0
  startedAt = 0
  /** Its index in the list of those that are served. */
  at = 0
  /** Of a request that waits: tells it whether it is served. */
  decide: ((isServed: boolean) => void) | undefined

  constructor(
    readonly counts: FlowCounts,
    readonly estimate: WorkEstimate,
    readonly arrivedAt: number,
    /** For the debug pages. */
    readonly shown: ShownRequest,
  ) {}

  get seats(): number {
    return Math.max(this.estimate.initialSeats, this.estimate.finalSeats)
  }

  /** In seat-seconds. */
  get work(): number {
    const { initialSeats, finalSeats, additionalMs } = this.estimate
    return initialSeats * EXPECTED_SECONDS + (finalSeats * additionalMs) / 1000
  }
}

export interface Queue {
  index: number
  /** In the order of their arrival. */
  readonly waiting: Set<Place>
  readonly executing: Place[]
  /** Sums of the requests that wait. */
  waitingWork: number
  waitingSeats: number
  waitingInitialSeats: number
  seatsInUse: number
  /** The meter reading at which the next request of this queue is due. */
  nextDispatchR: number
}

export const createQueue = (index: number): Queue => ({
  index,
  waiting: new Set(),
  executing: [],
  waitingWork: 0,
  waitingSeats: 0,
  waitingInitialSeats: 0,
  seatsInUse: 0,
  nextDispatchR: 0,
})

export const isIdle = ({ waiting, executing }: Queue): boolean => waiting.size === 0 && executing.length === 0

export const oldestOf = ({ waiting }: Queue): Place | undefined => waiting.values().next().value

export function join(queue: Queue, place: Place): void {
  queue.waiting.add(place)
  count(queue, place, 1)
}

export function leave(queue: Queue, place: Place): void {
  queue.waiting.delete(place)
  count(queue, place, -1)
  // Sums of fractions, which would not come back to 0 by themselves.
  if (queue.waiting.size === 0) queue.waitingWork = 0
}

function count(queue: Queue, place: Place, by: 1 | -1): void {
  queue.waitingWork += by * place.work
  queue.waitingSeats += by * place.seats
  queue.waitingInitialSeats += by * place.estimate.initialSeats
}

/** A list without order, in which adding and removing cost next to nothing. */
export function addTo(list: Place[], place: Place): void {
  place.at = list.length
  list.push(place)
}

export function removeFrom(list: Place[], place: Place): void {
  const last = list.pop()!
  if (last === place) return
  list[place.at] = last
  last.at = place.at
}

/** A request is not due before it arrived: a queue that could not use its share does not save it for later. */
export function boundNextDispatch(queue: Queue): void {
  const oldest = oldestOf(queue)
  if (oldest && queue.nextDispatchR < oldest.arrivalR) queue.nextDispatchR = oldest.arrivalR
}
