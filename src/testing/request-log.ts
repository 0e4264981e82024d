// The requests that a test server was sent, for assertions.
import type { ServedRequest } from '../http/handler.js'

export interface LoggedRequest {
  /** get, list, watch, create, update, patch, delete, deletecollection; the method for other paths. */
  readonly verb: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly user: string
  readonly userAgent: string
  /** Of the response; 499 without one. */
  readonly status: number
  readonly milliseconds: number
}

export interface RequestLog extends Iterable<LoggedRequest> {
  readonly length: number
  /** The requests that have all of these properties. */
  filter(wanted: Partial<LoggedRequest>): LoggedRequest[]
  clear(): void
}

export interface WritableRequestLog extends RequestLog {
  /** How many requests there were, those included that were dropped or cleared. */
  readonly count: number
  /** The requests after the first `count`, as far as they are kept. */
  since(count: number): readonly LoggedRequest[]
  add(request: ServedRequest, status: number, milliseconds: number): void
}

/** Older requests are dropped. */
const MAX_REQUESTS = 10_000

export function createRequestLog(): WritableRequestLog {
  let requests: LoggedRequest[] = []
  let count = 0
  return {
    get count() {
      return count
    },
    since: before => requests.slice(Math.max(0, requests.length - (count - before))),
    [Symbol.iterator]: () => requests[Symbol.iterator](),
    get length() {
      return requests.length
    },
    filter: wanted =>
      requests.filter(request =>
        Object.entries(wanted).every(([name, value]) => request[name as keyof LoggedRequest] === value),
      ),
    clear: () => void (requests = []),
    add({ info, user, userAgent, exchange }, status, milliseconds) {
      if (requests.length >= MAX_REQUESTS) requests.shift()
      count++
      const { verb, group, resource, subresource, namespace, name } = info
      requests.push({
        verb,
        method: exchange.method,
        path: info.path,
        query: exchange.query,
        group,
        resource,
        subresource,
        namespace,
        name,
        user: user.name,
        userAgent,
        status,
        milliseconds,
      })
    },
  }
}
