// A virtual resource: one that is answered and not stored, such as a review.

import type { VirtualResource } from '../../request/virtual-resource.js'
import type { Verbs } from '../../verbs/verbs.js'
import { negotiateFormat, VIRTUAL_OBJECTS } from '../negotiation/negotiation.js'
import type { IncomingRequest } from '../wire/incoming-request.js'
import { type Outcome, sendResult } from './outcome.js'
import { readBody } from './request-body.js'

export async function serveVirtual(
  verbs: Verbs,
  request: IncomingRequest,
  resource: VirtualResource,
  now: () => number,
): Promise<Outcome> {
  const { exchange, reply, cbor } = request
  const { query, namespace, name } = request.info
  const form = negotiateFormat({ headers: exchange.headers, query, cbor }, VIRTUAL_OBJECTS)
  const body = await readBody(request)
  const result = await verbs.createVirtual(request, resource, { namespace, name }, query, body)
  return sendResult(reply, result, form, query, now())
}
