// Requests that another server answers: those to group versions of extension API servers.

import type { RequestInfo } from '../../request/request-info.js'
import type { IncomingRequest } from '../wire/incoming-request.js'
import type { Outcome } from './outcome.js'

export interface Proxies {
  /** Passes requests to a group version on; undefined for one that this server serves itself. */
  find(info: RequestInfo): ServeProxied | undefined
  /** Ends watches and other responses without an end, so that the server can stop. */
  endStreams(): void
}

/** `ended` is called when a response is over that was still streaming when the promise was resolved. */
export type ServeProxied = (request: ProxiedRequest, ended: () => void) => Promise<Outcome>

export type ProxiedRequest = Pick<
  IncomingRequest,
  'info' | 'user' | 'exchange' | 'reply' | 'auditId' | 'deadline' | 'signal' | 'aborted' | 'log'
>
