// Serves OpenAPI.

import type { OpenApi } from '../../openapi/openapi.js'
import { parseAccept } from '../negotiation/media-types.js'
import type { FindPath } from './paths.js'

export const findOpenApi =
  (openapi: OpenApi): FindPath =>
  path => {
    const page = openapi.find(path)
    return (
      page &&
      (async ({ info: { query }, reply }) => {
        const { headers, method } = reply.exchange
        const request = {
          accepts: parseAccept(headers.accept || '*/*'),
          method,
          headers,
          hash: query.get('hash') ?? undefined,
        }
        await page.prepare(request)
        const { status, headers: own, body } = page.respond(request)
        await reply.whole(status, own, body)
      })
    )
  }
