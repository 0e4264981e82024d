// Limits how many requests are served at once: those that read, those that change something, and watches separately.
// Members of system:masters are not limited, because they must be able to look into an overloaded server.

import type { RequestInfo } from '../../request/request-info.js'
import type { IncomingRequest } from '../wire/incoming-request.js'
import { isLongRunning } from './deadline.js'

export interface InFlightOptions {
  /** Requests that only read; 0 is no limit. */
  readonly maxReading: number
  readonly maxMutating: number
  readonly maxWatches: number
}

export interface InFlightLimiter {
  /** False when there are too many requests; else `release` must be called when the request is done. */
  acquire(request: IncomingRequest): boolean
  /** May be called for any request, and more than once. */
  release(request: IncomingRequest): void
  readonly reading: number
  readonly mutating: number
}

/** `memory`: while it is full, nothing new is read. */
export function createInFlightLimiter(
  { maxReading, maxMutating, maxWatches }: InFlightOptions,
  memory: { readonly isFull: boolean } = { isFull: false },
): InFlightLimiter {
  // The requests themselves are kept, so that none is counted twice or released twice.
  const reading = new Set<IncomingRequest>()
  const mutating = new Set<IncomingRequest>()
  const watching = new Set<IncomingRequest>()

  const limitFor = ({ info }: IncomingRequest): [Set<IncomingRequest>, number] => {
    if (isLongRunning(info)) return [watching, maxWatches]
    return isMutating(info) ? [mutating, maxMutating] : [reading, maxReading]
  }

  return {
    acquire(request) {
      const [held, max] = limitFor(request)
      const isFull = (max > 0 && held.size >= max) || (memory.isFull && request.info.isResource && held !== mutating)
      if (isFull) return request.user.groups.includes('system:masters')
      held.add(request)
      return true
    },
    release(request) {
      if (!reading.delete(request) && !mutating.delete(request)) watching.delete(request)
    },
    get reading() {
      return reading.size
    },
    get mutating() {
      return mutating.size
    },
  }
}

export const isMutating = ({ verb }: RequestInfo): boolean => !READING.has(verb)

const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
