// Authentication: a request without a user is answered 401.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { unauthorized } from '../../meta/errors/status.js'
import type { Request } from '../../request/request.js'
import type { UserInfo } from '../../request/user-info.js'
import type { Exchange } from '../wire/exchange.js'
import type { IncomingRequest } from '../wire/incoming-request.js'

/** Undefined when the request brings no valid credentials; may also throw a StatusError. */
export type Authenticate = (
  exchange: Exchange,
  notes: Pick<Request, 'warn' | 'annotate'>,
) => Awaitable<UserInfo | undefined>

export function authenticateRequest(request: IncomingRequest, authenticate: Authenticate): Awaitable<void> {
  return andThen(authenticate(request.exchange, request), user => {
    if (!user) throw unauthorized()
    request.user = user
  })
}
