// A resource that is not in the registry: one that is answered and not stored, such as a review, or one that connects.

import type { ConnectResource } from '../../request/connect-resource.js'
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
  request.audit?.patch(body.bytes, body.mediaType)
  const result = await verbs.createVirtual(request, resource, { namespace, name }, query, body)
  return sendResult(reply, result, form, query, now())
}

export async function serveConnect(
  verbs: Verbs,
  request: IncomingRequest,
  resource: ConnectResource,
): Promise<Outcome> {
  const { exchange, reply, cbor } = request
  const { query, namespace, name } = request.info
  if (resource.produces === 'text') negotiateFormat({ headers: exchange.headers, query, cbor }, VIRTUAL_OBJECTS)
  const isUpgrade = /\bupgrade\b/i.test(exchange.headers.connection ?? '')
  const result = await verbs.connect(request, resource, { namespace, name, rawQuery: exchange.query, isUpgrade })
  if (reply.status === 0) {
    if (result.status === 204) reply.begin(204, {}).end()
    else reply.send(301, { location: result.location }, '')
  }
  return 'done'
}
