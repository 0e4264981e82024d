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

/** Older requests are dropped, if there are too many, or if their texts are too long together. */
const MAX_REQUESTS = 10_000
const MAX_CHARACTERS = 32 * 1024 * 1024

export function createRequestLog(): WritableRequestLog {
  let requests: LoggedRequest[] = []
  let characters = 0
  let count = 0

  function drop(): void {
    characters -= sizeOf(requests.shift()!)
  }

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
    clear() {
      requests = []
      characters = 0
    },
    add({ info, user, userAgent, exchange }, status, milliseconds) {
      if (requests.length >= MAX_REQUESTS) drop()
      count++
      const { verb, group, resource, subresource, namespace, name } = info
      const logged = {
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
      }
      requests.push(logged)
      characters += sizeOf(logged)
      while (characters > MAX_CHARACTERS && requests.length > 1) drop()
    },
  }
}

/** The texts that a client can make long. The others are parts of the path. */
const sizeOf = ({ method, path, query, user, userAgent }: LoggedRequest): number =>
  method.length + path.length + query.length + user.length + userAgent.length
