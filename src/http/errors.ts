// A fault on the wire: its Status in the form that the request asks for, with what its headers have to say.
import type { OutgoingHttpHeaders } from 'node:http'
import type { Status } from '../meta/errors/status.js'
import { representStatus } from '../response/encode-result.js'
import { documents, findForm, type Offer } from './negotiation/negotiation.js'
import type { Reply } from './wire/reply.js'

/** The forms in which faults are told, unless it is one of an endpoint that has fewer. */
const ALL_FORMS = documents('json', 'yaml', 'protobuf', 'cbor')

export function sendError(
  reply: Reply,
  query: URLSearchParams,
  status: Status,
  { offer = ALL_FORMS, headers = {} }: { offer?: Offer | undefined; headers?: OutgoingHttpHeaders } = {},
): void {
  const form = findForm({ headers: reply.exchange.headers, query }, offer)
  const { mediaType, body } = representStatus(status, form)
  const retryAfter = status.details?.retryAfterSeconds
  reply.send(
    status.code ?? 500,
    { 'content-type': mediaType, ...(retryAfter && { 'retry-after': String(retryAfter) }), ...headers },
    body,
  )
}
