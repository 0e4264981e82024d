// How much of a level a request takes: seats while it is served, and seats that stay taken for a moment after it, while
// the events of a write reach their watchers.
import type { RequestInfo } from '../../request/request-info.js'

export interface WorkEstimate {
  readonly initialSeats: number
  readonly finalSeats: number
  /** How long the seats stay taken when the request is done. */
  readonly additionalMs: number
}

/** Objects of a resource; undefined while that is not known. */
export type StatsOf = (info: RequestInfo) => ResourceStats | undefined

export interface ResourceStats {
  readonly count: number
  readonly averageBytes: number
}

export interface EstimateParts {
  readonly statsOf: StatsOf
  /** How many watches a write by this request may concern. */
  readonly watchesOf: (info: RequestInfo) => number
  /** Whether a watch may begin with the objects that exist. */
  readonly watchList: boolean
}

export type Estimate = (info: RequestInfo, maxSeats: number) => WorkEstimate

export const ONE_SEAT: WorkEstimate = { initialSeats: 1, finalSeats: 0, additionalMs: 0 }

const MAX_LIST_SEATS = 100
const MAX_MUTATING_SEATS = 10
const BYTES_PER_SEAT = 100_000
/** A list from the cache is sent in pieces, so that it never takes more than this. */
const CACHED_LIST_BYTES = 1_000_000
const LARGEST_OBJECT_BYTES = 1_500_000
const WATCHES_PER_SEAT = 10
const EVENT_MS = 5

export function createEstimate({ statsOf, watchesOf, watchList }: EstimateParts): Estimate {
  return (info, maxSeats) => {
    if (!info.isResource) return ONE_SEAT
    switch (info.verb) {
      case 'list':
        return ofList(info, maxSeats)
      case 'watch':
        return watchList && sendsObjects(info.query) ? ofList(info, maxSeats) : ONE_SEAT
      case 'create':
      case 'update':
      case 'patch':
      case 'delete':
        return ofWrite(info, maxSeats)
      default:
        return ONE_SEAT
    }
  }

  function ofList(info: RequestInfo, maxSeats: number): WorkEstimate {
    const stats = statsOf(info)
    if (!stats) return ONE_SEAT
    const seats = Math.min(listSeats(info, stats), limitOf(maxSeats, MAX_LIST_SEATS))
    return seats <= 1 ? ONE_SEAT : { initialSeats: seats, finalSeats: 0, additionalMs: 0 }
  }

  function ofWrite(info: RequestInfo, maxSeats: number): WorkEstimate {
    // A token is written nowhere.
    if (info.subresource === 'token' && info.resource === 'serviceaccounts') return ONE_SEAT
    const watches = watchesOf(info)
    // Few watches take so little that the seats are free at once.
    if (watches < WATCHES_PER_SEAT) return ONE_SEAT
    const wanted = Math.ceil(watches / WATCHES_PER_SEAT)
    const finalSeats = Math.min(wanted, limitOf(maxSeats, MAX_MUTATING_SEATS))
    return { initialSeats: 1, finalSeats, additionalMs: (wanted * EVENT_MS) / finalSeats }
  }
}

const limitOf = (maxSeats: number, atMost: number): number => (maxSeats === 0 ? atMost : Math.min(maxSeats, atMost))

function sendsObjects(query: URLSearchParams): boolean {
  const version = query.get('resourceVersion') ?? ''
  return query.get('sendInitialEvents') === 'true' || version === '' || version === '0'
}

function listSeats({ verb, name, query }: RequestInfo, { count, averageBytes }: ResourceStats): number {
  const fromCache = verb === 'watch' || isCached(query)
  const limit = Number(query.get('limit') ?? 0)
  const limited = limit > 0 && limit < count ? limit : count
  const selects = (query.get('fieldSelector') ?? '') !== '' || (query.get('labelSelector') ?? '') !== ''
  const objects = name !== '' ? 1 : !fromCache && selects ? Math.max(limited, Math.trunc(count / 2)) : limited
  const bytes = objects * (averageBytes <= 0 && count > 0 ? LARGEST_OBJECT_BYTES : averageBytes)
  return Math.ceil((fromCache ? Math.min(bytes, CACHED_LIST_BYTES) : bytes) / BYTES_PER_SEAT)
}

/** Whether kube-apiserver would answer the list from its cache, and not from etcd. */
function isCached(query: URLSearchParams): boolean {
  switch (query.get('resourceVersionMatch') ?? '') {
    case 'NotOlderThan':
      return true
    case '': {
      const version = query.get('resourceVersion') ?? ''
      const isPage = (query.get('limit') ?? '') !== '' && version !== '' && version !== '0'
      return (query.get('continue') ?? '') === '' && !isPage
    }
    default:
      return false
  }
}
