// How long a request may take. Watches and connections to pods have no deadline.

import { badRequest } from '../../meta/errors/status.js'
import { queryTimeout } from '../../meta/options/query.js'
import type { RequestInfo } from '../../request/request-info.js'

export interface DeadlineOptions {
  /** How long a request may take at most. */
  readonly requestTimeoutMs: number
}

export const isLongRunning = ({ isResource, verb, subresource }: RequestInfo): boolean =>
  isResource && (verb === 'watch' || LONG_RUNNING.has(subresource))

const LONG_RUNNING: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** The `timeout` parameter, if it is shorter than the server's limit. */
export function timeLimit({ query }: RequestInfo, { requestTimeoutMs }: DeadlineOptions): number {
  const requested = queryTimeout(query)
  if (!requested.ok) throw badRequest(requested.error)
  return requested.value !== undefined && requested.value > 0
    ? Math.min(requested.value, requestTimeoutMs)
    : requestTimeoutMs
}
