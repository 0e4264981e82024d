// Limits how many requests are served at once, those that read and those that change something separately. Watches are
// not limited, and neither are members of system:masters, who must be able to look into an overloaded server.

import type { IncomingRequest } from '../wire/incoming-request.js'
import { isLongRunning } from './deadline.js'

export interface InFlightOptions {
  /** Requests that only read; 0 is no limit. */
  readonly maxReading: number
  readonly maxMutating: number
}

export interface InFlightLimiter {
  /** False when there are too many requests; else `release` must be called when the request is done. */
  acquire(request: IncomingRequest): boolean
  /** May be called for any request, and more than once. */
  release(request: IncomingRequest): void
  readonly reading: number
  readonly mutating: number
}

export function createInFlightLimiter({ maxReading, maxMutating }: InFlightOptions): InFlightLimiter {
  // The requests themselves are kept, so that none is counted twice or released twice.
  const reading = new Set<IncomingRequest>()
  const mutating = new Set<IncomingRequest>()
  return {
    acquire(request) {
      if (isLongRunning(request.info)) return true
      const [held, max] = READING.has(request.info.verb) ? [reading, maxReading] : [mutating, maxMutating]
      if (max > 0 && held.size >= max) return request.user.groups.includes('system:masters')
      held.add(request)
      return true
    },
    release(request) {
      if (!reading.delete(request)) mutating.delete(request)
    },
    get reading() {
      return reading.size
    },
    get mutating() {
      return mutating.size
    },
  }
}

const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
