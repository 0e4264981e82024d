// The body of a request, up to a limit. A request that changes something takes its place among those that are served once
// its body is there, so that a client that sends slowly does not keep others out.

import { requestEntityTooLarge } from '../../meta/errors/status.js'
import { BODY_TYPES, type Body } from '../../request/body.js'
import { bodyType, spokenTypes } from '../negotiation/negotiation.js'
import { BodyTooLarge } from '../wire/exchange.js'
import type { IncomingRequest } from '../wire/incoming-request.js'

/** Larger bodies are refused. */
const MAX_BODY = 3 * 1024 * 1024

/** Bodies that the server takes. CBOR is a feature gate. */
export const acceptedTypes = (cbor: boolean): readonly string[] => (cbor ? BODY_TYPES : WITHOUT_CBOR)

const WITHOUT_CBOR = spokenTypes(BODY_TYPES, false)

/** `mediaType`: that of a patch; by default it is read from the headers, before the body. */
export async function readBody(request: IncomingRequest, mediaType?: string): Promise<Body> {
  const accepted = acceptedTypes(request.cbor)
  const type = mediaType ?? bodyType(request.exchange.headers, accepted)
  try {
    return { bytes: await request.readBody(MAX_BODY), mediaType: type, accepted }
  } catch (error) {
    throw error instanceof BodyTooLarge ? requestEntityTooLarge(`limit is ${MAX_BODY}`) : error
  }
}

/** The options of a delete. The Content-Type of an empty body is not looked at. */
export async function readDeleteBody(request: IncomingRequest): Promise<Body> {
  const body = await readBody(request, '')
  return body.bytes.length === 0 ? body : withType(request, body)
}

/** A body that was read before its Content-Type is looked at. */
export const withType = ({ exchange }: Pick<IncomingRequest, 'exchange'>, body: Body): Body => ({
  ...body,
  mediaType: bodyType(exchange.headers, body.accepted!),
})
