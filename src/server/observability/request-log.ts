// One line of the log for a request: for each that failed, for slow ones from verbosity 1 on, for all from 2 on.
import type { LogFields, Logger } from '../../base/logger.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { Verbosity } from './verbosity.js'

export interface LoggedRequest {
  readonly info: RequestInfo
  readonly user: { readonly name: string }
  readonly userAgent: string
  readonly exchange: { readonly path: string; readonly query: string }
  /** Adds the audit id to each line. */
  readonly log: Logger
  /** An error that is a bug of the server. */
  readonly failure: unknown
}

export type LogRequest = (request: LoggedRequest, status: number, milliseconds: number) => void

const SLOW_MS = 1000
const SLOW_VERBOSITY = 1
const ALL_VERBOSITY = 2

export function createRequestLog(verbosity: Verbosity): LogRequest {
  return (request, status, milliseconds) => {
    // The logger of a request is created when it is first read: only a request that is logged needs one.
    if (request.failure !== undefined) request.log.error('request failed', fieldsOf(request, status, milliseconds))
    else if (status >= 500) request.log.warn('request failed', fieldsOf(request, status, milliseconds))
    else if (verbosity.level >= SLOW_VERBOSITY && milliseconds > SLOW_MS && request.info.verb !== 'watch') {
      request.log.info('slow request', fieldsOf(request, status, milliseconds))
    } else if (verbosity.level >= ALL_VERBOSITY) request.log.info('request', fieldsOf(request, status, milliseconds))
  }
}

const fieldsOf = (request: LoggedRequest, status: number, milliseconds: number): LogFields => ({
  user: request.user.name,
  verb: request.info.verb,
  path: request.exchange.query === '' ? request.exchange.path : `${request.exchange.path}?${request.exchange.query}`,
  status,
  milliseconds: Math.round(milliseconds),
  userAgent: request.userAgent,
  ...(request.failure !== undefined && { error: request.failure }),
})
