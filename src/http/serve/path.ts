// Paths that name no resource: health, metrics, discovery, OpenAPI; and paths that lead nowhere.

import { genericResponse } from '../../meta/errors/status.js'
import type { IncomingRequest } from '../wire/incoming-request.js'
import type { Outcome } from './outcome.js'
import type { FindPath } from './paths.js'
import type { Router } from './routing.js'

export async function servePath(findPath: FindPath, router: Router, request: IncomingRequest): Promise<Outcome> {
  const { path } = request.info
  const handler = path.startsWith('//') ? undefined : findPath(path)
  if (!handler) return serveNothing(router, request)
  request.isRouted = true
  await handler(request)
  return 'done'
}

/** Paths of built-in groups are answered with a Status, all others with a page. */
export function serveNothing(router: Router, { info, reply }: IncomingRequest): Outcome {
  if (router.isBuiltinGroup(info) && !info.path.startsWith('//')) throw genericResponse(404)
  reply.text(404, '404 page not found\n')
  return 'done'
}
