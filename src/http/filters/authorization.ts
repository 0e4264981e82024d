// Authorization: a request that its user may not make is answered 403.

import { type Authorize, refusal } from '../../auth/authorizer.js'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import type { StatusError } from '../../meta/errors/status.js'
import type { AccessAttributes } from '../../request/access-attributes.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { IncomingRequest } from '../wire/incoming-request.js'

export function authorizeRequest(
  request: IncomingRequest,
  attributes: AccessAttributes,
  authorize: Authorize,
): Awaitable<void> {
  const { user } = request
  return andThen(authorize(user, attributes), decision => {
    request.decision = decision
    if (!decision.allowed) throw new Forbidden(refusal(user, attributes, decision))
  })
}

/** Refused by the authorizer. Its response has a header that a refusal by a verb has not. */
export class Forbidden extends Error {
  constructor(readonly error: StatusError) {
    super(error.message)
  }
}

/** What the authorizer is asked about. */
export function attributesOf(info: RequestInfo): AccessAttributes {
  const { isResource, verb, path, group, resource, subresource, namespace, name } = info
  return isResource ? { verb, group, resource, subresource, namespace, name } : { verb, path }
}
