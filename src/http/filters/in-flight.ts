// Limits how many requests are served at once: those that read, those that change something, and watches separately.
// A watch holds its headers for as long as it lasts, so that those of all watches together are limited, too.
// Members of system:masters are not limited, because they must be able to look into an overloaded server.

import type { RequestInfo } from '../../request/request-info.js'
import type { IncomingRequest, InFlightKind } from '../wire/incoming-request.js'
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

/** Characters of the headers and the target of a watch. Watches with fewer are never refused because of others. */
const USUAL_HEADERS = 16 * 1024
/** The same of all watches together. */
const MAX_HELD_HEADERS = 64 * 2 ** 20

/** `memory`: while it is full, nothing new is read. */
export function createInFlightLimiter(
  { maxReading, maxMutating, maxWatches }: InFlightOptions,
  memory: { readonly isFull: boolean } = { isFull: false },
): InFlightLimiter {
  const counts = { reading: 0, mutating: 0, watching: 0 }
  let heldHeaders = 0
  const limits = { reading: maxReading, mutating: maxMutating, watching: maxWatches }

  return {
    acquire(request) {
      const kind = kindOf(request.info)
      const max = limits[kind]
      const headers = kind === 'watching' ? headersOf(request) : 0
      const isFull =
        (max > 0 && counts[kind] >= max) ||
        (memory.isFull && request.info.isResource && kind !== 'mutating') ||
        (headers > USUAL_HEADERS && heldHeaders + headers > MAX_HELD_HEADERS)
      if (isFull) return request.user.groups.includes('system:masters')
      counts[kind]++
      heldHeaders += headers
      request.countedAs = kind
      return true
    },
    release(request) {
      const kind = request.countedAs
      if (kind === undefined) return
      request.countedAs = undefined
      counts[kind]--
      if (kind === 'watching') heldHeaders -= headersOf(request)
    },
    get reading() {
      return counts.reading
    },
    get mutating() {
      return counts.mutating
    },
  }
}

function headersOf({ exchange: { path, query, rawHeaders } }: IncomingRequest): number {
  let length = path.length + query.length
  for (const text of rawHeaders) length += text.length
  return length
}

function kindOf(info: RequestInfo): InFlightKind {
  if (isLongRunning(info)) return 'watching'
  return isMutating(info) ? 'mutating' : 'reading'
}

export const isMutating = ({ verb }: RequestInfo): boolean => !READING.has(verb)

const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
