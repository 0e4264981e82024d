// A request to a resource: found by the router, its response format negotiated, its body read, its verb carried out.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import type { Body } from '../../request/body.js'
import { isConnect } from '../../request/connect-resource.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { Target } from '../../request/target.js'
import type { UserInfo } from '../../request/user-info.js'
import type { Result } from '../../verbs/result.js'
import type { Verbs } from '../../verbs/verbs.js'
import { patchTypesOf, sentObject } from '../../verbs/write.js'
import { negotiateFormat, patchType, spokenTypes } from '../negotiation/negotiation.js'
import type { IncomingRequest } from '../wire/incoming-request.js'
import type { WatchStreams } from '../wire/watch-stream.js'
import { type Outcome, sendResult } from './outcome.js'
import { serveNothing } from './path.js'
import { readBody, readDeleteBody, withType } from './request-body.js'
import { checkName, type Route, type Router } from './routing.js'
import { serveConnect, serveVirtual } from './virtual.js'
import type { RouteVirtual } from './virtual-routing.js'
import { serveWatch } from './watch.js'

export interface ResourceServing {
  readonly router: Router
  readonly routeVirtual: RouteVirtual
  readonly verbs: Verbs
  readonly watches: WatchStreams
  readonly now: () => number
  /** Called for each request in a deprecated version. */
  readonly onDeprecated?: OnDeprecated | undefined
}

export type OnDeprecated = (
  request: { readonly info: RequestInfo; readonly user: UserInfo; readonly userAgent: string },
  warning: string,
) => void

export function serveResource(
  serving: ResourceServing,
  request: IncomingRequest,
  ended: () => void,
): Awaitable<Outcome> {
  const { router, verbs, now } = serving
  const { exchange } = request
  const virtual = serving.routeVirtual(exchange.method, exchange.headers, request.info)
  if (virtual) {
    request.isRouted = true
    return isConnect(virtual) ? serveConnect(verbs, request, virtual) : serveVirtual(verbs, request, virtual, now)
  }
  const route = router.route(exchange.method, exchange.headers, request)
  if (!route) return serveNothing(router, request)
  request.isRouted = true
  const { deprecationWarning } = route.target.version
  if (deprecationWarning) {
    request.warn(deprecationWarning)
    serving.onDeprecated?.(request, deprecationWarning)
  }
  if (route.verb === 'watch') return serveWatch(verbs, serving.watches, request, route, ended)
  return serveVerb(verbs, request, route, now)
}

function serveVerb(verbs: Verbs, request: IncomingRequest, route: Route, now: () => number): Awaitable<Outcome> {
  const { cbor } = request
  const { headers } = request.exchange
  const { verb, target, query, offer } = route
  // The media type of a patch is checked before anything else.
  const mediaType = verb === 'patch' ? patchType(headers, spokenTypes(patchTypesOf(target), cbor)) : ''
  checkName(route)
  const form = negotiateFormat({ headers, query, cbor }, offer)
  return andThen(carryOut(verbs, request, route, mediaType), result =>
    sendResult(request.reply, result, form, query, now()),
  )
}

/** A promise only where something must be waited for. */
function carryOut(verbs: Verbs, request: IncomingRequest, route: Route, patchMediaType: string): Awaitable<Result> {
  const { verb, target, query } = route
  if (verb === 'get') return verbs.get(request, target, query)
  if (verb === 'list') return verbs.list(request, target, query)
  return write(verbs, request, route, patchMediaType)
}

async function write(verbs: Verbs, request: IncomingRequest, route: Route, patchMediaType: string): Promise<Result> {
  const { verb, target, query } = route
  switch (verb) {
    case 'create':
      return verbs.create(request, target, query, recorded(request, target, await readBody(request)))
    case 'update':
      return verbs.update(
        request,
        target,
        query,
        recorded(request, target, withType(request, await readBody(request, ''))),
      )
    case 'patch':
      return verbs.patch(request, target, query, recordedPatch(request, await readBody(request, patchMediaType)))
    case 'delete':
      return verbs.delete(request, target, query, recordedOptions(request, await readDeleteBody(request)))
    default:
      return verbs.deleteCollection(request, target, query, recordedOptions(request, await readDeleteBody(request)))
  }
}

/** Adds the object that the client sent to the audit of the request. */
function recorded(request: IncomingRequest, target: Target, body: Body): Body {
  if (!request.audit) return body
  if (target.subresource === 'scale') return recordedPatch(request, body)
  const sent = sentObject(target, body)
  if (sent) request.audit.object(sent)
  return body
}

function recordedPatch(request: IncomingRequest, body: Body): Body {
  request.audit?.patch(body.bytes, body.mediaType)
  return body
}

function recordedOptions(request: IncomingRequest, body: Body): Body {
  if (body.bytes.length > 0) request.audit?.deleteOptions(body.bytes, body.mediaType)
  return body
}
