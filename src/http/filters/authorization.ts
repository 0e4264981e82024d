// Authorization: a request that its user may not make is answered 403.

import { type Authorize, refusal } from '../../auth/authorizer.js'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import type { StatusError } from '../../meta/errors/status.js'
import { queryText } from '../../meta/options/query.js'
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
    if (decision.allowed) return
    // Neither allowed nor refused for certain.
    if (decision.error !== undefined) throw new AuthorizationFailed(decision.error)
    throw new Forbidden(refusal(user, attributes, decision))
  })
}

/** Refused by the authorizer. Its response has a header that a refusal by a verb has not. */
export class Forbidden extends Error {
  constructor(readonly error: StatusError) {
    super(error.message)
  }
}

/** An authorizer has failed. It is answered with a text, as by kube-apiserver. */
export class AuthorizationFailed extends Error {}

/** What the authorizer is asked about. */
export function attributesOf(info: RequestInfo): AccessAttributes {
  const { isResource, verb, path, group, version, resource, subresource, namespace, name, query } = info
  if (!isResource) return { verb, path }
  if (query.size === 0 || !SELECTING.has(verb)) return { verb, group, version, resource, subresource, namespace, name }
  const fieldSelector = queryText(query, 'fieldSelector')
  const labelSelector = queryText(query, 'labelSelector')
  return { verb, group, version, resource, subresource, namespace, name, fieldSelector, labelSelector }
}

/** The verbs that selectors limit. */
const SELECTING = new Set(['list', 'watch', 'deletecollection'])
