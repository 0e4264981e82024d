// How much is done at once, and how long anything may take. A watch lasts as long as it lasts: it counts in neither.

import { badRequest, timeout } from '../../meta/errors/status.js'
import { queryTimeout } from '../../meta/options/query.js'
import type { RequestInfo } from '../../request/request-info.js'

export interface LimitOptions {
  /** How many requests that only read are under way at once; 0 is no limit. */
  readonly maxReading: number
  readonly maxMutating: number
  /** How long a request may take. */
  readonly requestTimeoutMs: number
}

/** As the reference server has them. */
export const DEFAULT_LIMITS: LimitOptions = { maxReading: 400, maxMutating: 200, requestTimeoutMs: 60_000 }

export interface InFlight {
  /** Takes a place; false when there is none. Who takes one gives it back. */
  enter(info: RequestInfo): boolean
  leave(info: RequestInfo): void
  readonly reading: number
  readonly mutating: number
}

export function countInFlight({ maxReading, maxMutating }: LimitOptions): InFlight {
  let reading = 0
  let mutating = 0
  return {
    enter(info) {
      if (isReading(info)) {
        if (maxReading > 0 && reading >= maxReading) return false
        reading++
      } else {
        if (maxMutating > 0 && mutating >= maxMutating) return false
        mutating++
      }
      return true
    },
    leave(info) {
      if (isReading(info)) reading--
      else mutating--
    },
    get reading() {
      return reading
    },
    get mutating() {
      return mutating
    },
  }
}

const READING = new Set(['get', 'list', 'watch'])
const isReading = ({ verb }: RequestInfo): boolean => READING.has(verb)

/** What ends only when one of the two sides wants it to. */
export const isLongRunning = ({ isResource, verb }: RequestInfo): boolean => isResource && verb === 'watch'

/** How long this request may take: what it asks for itself, if that is less than what is allowed. */
export function timeLimit({ query }: RequestInfo, { requestTimeoutMs }: LimitOptions): number {
  const requested = queryTimeout(query)
  if (!requested.ok) throw badRequest(requested.error)
  return requested.value !== undefined && requested.value > 0
    ? Math.min(requested.value, requestTimeoutMs)
    : requestTimeoutMs
}

export const tookTooLong = () => timeout('request did not complete within the allotted timeout')

/** Whoever administers the server is always let in, above all to find out what is wrong. */
export const isPrivileged = (groups: readonly string[]): boolean => groups.includes('system:masters')
