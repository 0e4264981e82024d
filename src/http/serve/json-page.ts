// Serves a JSON document of one media type, such as the keys of the issuer of service account tokens.
import { genericResponse } from '../../meta/errors/status.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkAccepts } from '../negotiation/negotiation.js'
import type { PathHandler } from './paths.js'

/** The entries of a path, with and without a slash at its end. */
export function jsonPage(path: string, mediaType: string, document: () => ValueObject): [string, PathHandler][] {
  const show: PathHandler = ({ reply, info }) => {
    if (info.verb !== 'get') throw genericResponse(405)
    checkAccepts(reply.exchange.headers, [mediaType])
    return reply.send(
      200,
      { 'content-type': mediaType, 'cache-control': 'public, max-age=3600' },
      JSON.stringify(document()),
    )
  }
  return [
    [path, show],
    [`${path}/`, show],
  ]
}
