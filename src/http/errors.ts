// Sends an error as a Status in the negotiated format.
import type { OutgoingHttpHeaders } from 'node:http'
import type { Status } from '../meta/errors/status.js'
import { encodeStatus } from '../response/encode-result.js'
import { documents, findFormat, type Offer } from './negotiation/negotiation.js'
import type { ResponseWriter } from './wire/response-writer.js'

/** The formats of errors, unless an endpoint has fewer. */
const ALL_FORMS = documents('json', 'yaml', 'protobuf', 'cbor')

export interface ErrorOptions {
  readonly offer?: Offer | undefined
  readonly headers?: OutgoingHttpHeaders
  readonly cbor: boolean
}

export function sendError(
  reply: ResponseWriter,
  query: URLSearchParams,
  status: Status,
  { offer = ALL_FORMS, headers = {}, cbor }: ErrorOptions,
): void {
  const form = findFormat({ headers: reply.exchange.headers, query, cbor }, offer)
  const { mediaType, body } = encodeStatus(status, form)
  const retryAfter = status.details?.retryAfterSeconds
  reply.send(
    status.code ?? 500,
    { 'content-type': mediaType, ...(retryAfter && { 'retry-after': String(retryAfter) }), ...headers },
    body,
  )
}
