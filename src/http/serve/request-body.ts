// The body of a request, up to a limit.

import { requestEntityTooLarge } from '../../meta/errors/status.js'
import type { Body } from '../../request/body.js'
import { bodyType } from '../negotiation/negotiation.js'
import { BodyTooLarge, type Exchange } from '../wire/exchange.js'

/** Larger bodies are refused. */
const MAX_BODY = 3 * 1024 * 1024

export async function readBody(exchange: Exchange, mediaType: string): Promise<Body> {
  try {
    return { bytes: await exchange.body(MAX_BODY), mediaType }
  } catch (error) {
    throw error instanceof BodyTooLarge ? requestEntityTooLarge(`limit is ${MAX_BODY}`) : error
  }
}

/** The options of a delete. The Content-Type of an empty body is not looked at. */
export async function readDeleteBody(exchange: Exchange): Promise<Body> {
  const { bytes } = await readBody(exchange, '')
  return { bytes, mediaType: bytes.length === 0 ? '' : bodyType(exchange.headers) }
}
