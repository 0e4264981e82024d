// What the endpoints below /console/api/ have in common: a JSON object or a query comes in, JSON goes out. Each is loaded
// when it is first called, because the server does not need them to start.

import { LiveError, type LiveServer } from '../../authoring/live-server.js'
import { UsageError } from '../../base/usage-error.js'
import { CodecError } from '../../codec/codec-error.js'
import { decodeJson, encodeJson } from '../../codec/json.js'
import { BodyTooLarge, type Exchange } from '../../http/exchange.js'
import type { PathHandler, PathRequest } from '../../http/pages.js'
import {
  badRequest,
  genericResponse,
  requestEntityTooLarge,
  StatusError,
  tooManyRequests,
} from '../../meta/errors/status.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { UserInfo } from '../../request/user-info.js'
import { ownApi } from './own-api.js'

export interface EndpointRequest {
  readonly user: UserInfo
  readonly query: URLSearchParams
  /** Empty for GET. */
  readonly body: ValueObject
  /** The API as the user who asks sees it. */
  readonly api: LiveServer
}

export type Endpoint = (request: EndpointRequest) => Promise<ValueObject> | ValueObject

const MAX_BODY = 4 * 1024 * 1024
/** How many calls of one endpoint wait or run at a time. */
const MAX_CALLS = 8

export function servedBy(
  method: 'GET' | 'POST',
  handle: (exchange: Exchange) => void,
  load: () => Promise<Endpoint>,
): PathHandler {
  let calls = 0
  let last: Promise<unknown> = Promise.resolve()
  /** One after the other, because some of them compute for a while. */
  async function inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (calls >= MAX_CALLS) throw tooManyRequests('too many calls of this kind at the moment', 1)
    calls++
    const turn = last.then(run)
    last = turn.catch(() => {})
    return turn.finally(() => calls--)
  }
  return async request => {
    const { exchange } = request.reply
    if (exchange.method !== method) throw genericResponse(405)
    const body = method === 'POST' ? await readBody(request) : {}
    const answer = await inTurn(async () => {
      const endpoint = await load()
      const { user, info } = request
      return endpoint({ user, query: info.query, body, api: ownApi(handle, exchange) })
    }).catch((error: unknown) => {
      throw asStatusError(error)
    })
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
    return request.reply.whole(200, headers, Buffer.from(`${encodeJson(answer)}\n`))
  }
}

/** An object without the members that are absent. */
export const withoutAbsent = (members: Readonly<Record<string, Value | undefined>>): ValueObject =>
  Object.fromEntries(Object.entries(members).filter((member): member is [string, Value] => member[1] !== undefined))

async function readBody(request: PathRequest): Promise<ValueObject> {
  let value: Value
  try {
    value = decodeJson(await request.readBody(MAX_BODY)).value
  } catch (error) {
    if (error instanceof BodyTooLarge) throw requestEntityTooLarge(`limit is ${MAX_BODY}`)
    throw error instanceof CodecError ? badRequest(`the body is not JSON: ${error.message}`) : error
  }
  if (isObject(value)) return value
  throw badRequest('the body must be a JSON object')
}

/** A refusal of the API is passed on as it is. */
function asStatusError(error: unknown): unknown {
  if (error instanceof LiveError && error.status) return new StatusError(error.status)
  return error instanceof UsageError ? badRequest(error.message) : error
}
