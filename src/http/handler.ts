// The life of a request:
//
//   Exchange                       a request, and ways to answer it                          exchange.ts
//      │
//   understand ─────────── 400     method and URL → RequestInfo                              request-info.ts
//      │
//   set a time limit ───── 400     `timeout`; what waits longer gets a 504                   limits.ts
//      │
//   authenticate ───────── 401     who is it                                                 injected
//      │
//   take a place ───────── 429     not too many at once; watches take none                   limits.ts
//      │
//   impersonate ────────── 400 403 who else would they be                                    injected
//      │
//   authorize ──────────── 403     may they                                                  injected
//      │
//   route ──────────────── 404 405 a path of its own, or a kind, a verb and what is meant    routing.ts
//      │
//   negotiate ──────────── 406 415 in which form it is answered, in which the body comes     negotiation.ts
//      │
//   read the body ──────── 413
//      │
//   carry out ──────────── any     the verb                                                  resources/verbs.ts
//      │
//   represent                      the answer in the form that is wanted                     resources/representation
//      │
//   reply                          bytes and headers, whole, in pieces, or event by event    reply.ts, watch-stream.ts
//
// Each step goes on to the next at once where nothing has to be waited for (`andThen`): a get of the embedded store is
// answered before the next request is looked at, without a promise or a timer.
//
// Whatever is thrown on the way is answered with the Status that it carries. What carries none is our own fault: it is
// logged, answered with a 500, and the next request is served as if nothing had happened.

import { type Authorize, refusal } from '../auth/authorizer.js'
import type { Impersonate } from '../auth/impersonation.js'
import { type Awaitable, andThen } from '../base/awaitable.js'
import type { Registry } from '../kinds/registry.js'
import {
  genericResponse,
  internalError,
  requestEntityTooLarge,
  type Status,
  StatusError,
  unauthorized,
} from '../meta/errors/status.js'
import { type AccessAttributes } from '../request/access-attributes.js'
import { type Body } from '../request/body.js'
import { MalformedPath, parseRequestInfo, type RequestInfo } from '../request/request-info.js'
import { type UserInfo } from '../request/user-info.js'
import { type VirtualResource } from '../request/virtual-resource.js'
import { represent } from '../response/encode-result.js'
import type { Form } from '../response/output-format.js'
import { createVirtual } from '../verbs/create-virtual.js'
import type { Result } from '../verbs/result.js'
import type { Verbs } from '../verbs/verbs.js'
import { patchTypesOf } from '../verbs/write.js'
import { sendError } from './errors.js'
import { impersonationHeaders } from './filters/impersonation-headers.js'
import {
  countInFlight,
  DEFAULT_LIMITS,
  isLongRunning,
  isPrivileged,
  type LimitOptions,
  timeLimit,
  tookTooLong,
} from './filters/limits.js'
import { bodyType, negotiateForm, patchType, TYPED_OBJECTS } from './negotiation/negotiation.js'
import type { FindPath } from './serve/paths.js'
import { checkName, createRouter, type Route } from './serve/routing.js'
import { createVirtualRouter } from './serve/virtual-routing.js'
import { BodyTooLarge, type Exchange, RequestCutShort } from './wire/exchange.js'
import { createReply, type Reply } from './wire/reply.js'
import { createWatchStreams } from './wire/watch-stream.js'

/** Undefined when the request does not prove who sent it; others may also throw a StatusError. */
export type Authenticate = (exchange: Exchange, warn: (text: string) => void) => Awaitable<UserInfo | undefined>

export interface ApiOptions {
  readonly registry: Registry
  readonly verbs: Verbs
  readonly authenticate: Authenticate
  readonly authorize: Authorize
  /** Who the caller is from now on, if the request says so and they may; headers that say so are ignored without it. */
  readonly impersonate?: Impersonate | undefined
  /** What is answered without being stored. */
  readonly virtualResources?: readonly VirtualResource[] | undefined
  /** Who serves the paths that name no resource. */
  readonly findPath: FindPath
  readonly limits?: Partial<LimitOptions> | undefined
  /** How long a watch that does not say lasts at least. */
  readonly minRequestTimeoutMs?: number | undefined
  readonly now?: (() => number) | undefined
  /** Hears of faults of our own. */
  readonly log: (message: string, error: unknown) => void
  /** Hears of every request that has been answered. */
  readonly observe?: ((info: RequestInfo, status: number, milliseconds: number) => void) | undefined
  /** Hears of requests in deprecated versions. */
  readonly onDeprecated?: ((info: RequestInfo, user: UserInfo, warning: string) => void) | undefined
}

export interface ApiHandler {
  handle(exchange: Exchange): void
  /** Ends all watches, so that the server can stop; clients come back to whoever serves them then. */
  endWatches(): void
  /** How much is under way. */
  readonly load: { readonly reading: number; readonly mutating: number; readonly watches: number }
}

/** Larger bodies are refused. */
const MAX_BODY = 3 * 1024 * 1024
const MIN_REQUEST_TIMEOUT_MS = 1_800_000

export function createApiHandler(options: ApiOptions): ApiHandler {
  const { registry, verbs, authenticate, authorize, impersonate, findPath, log, observe, onDeprecated } = options
  const { virtualResources = [] } = options
  const limits: LimitOptions = { ...DEFAULT_LIMITS, ...options.limits }
  const now = options.now ?? Date.now
  const router = createRouter(registry, virtualResources)
  const routeVirtual = createVirtualRouter(virtualResources)
  const inFlight = countInFlight(limits)
  const watches = createWatchStreams({
    minRequestTimeoutMs: options.minRequestTimeoutMs ?? MIN_REQUEST_TIMEOUT_MS,
    now,
  })

  const unanswered = (error: unknown): void => log('a request could not be answered', error)

  function live(exchange: Exchange): void {
    const reply = createReply(exchange)
    const info = understand(exchange, reply)
    if (!info) return
    const request: Request = { reply, info, started: performance.now(), hasPlace: false }
    try {
      const limit = isLongRunning(info) ? undefined : timeLimit(info, limits)
      const outcome = serve(request)
      if (outcome instanceof Promise) waitFor(request, outcome, limit).catch(unanswered)
      else if (outcome === 'over') end(request)
    } catch (error) {
      answerError(request, error)
      end(request)
    }
  }

  /** Most reads of the embedded store are over at once; only what is waited for can take too long. */
  async function waitFor(request: Request, serving: Promise<Outcome>, limit: number | undefined): Promise<void> {
    const timer = limit === undefined ? undefined : setTimeout(giveUp, limit, request)
    let outcome: Outcome = 'over'
    try {
      outcome = await serving
    } catch (error) {
      answerError(request, error)
    }
    clearTimeout(timer)
    if (outcome === 'over') end(request)
  }

  function serve(request: Request): Awaitable<Outcome> {
    const { reply, info } = request
    return andThen(
      authenticate(reply.exchange, text => reply.warn([text])),
      user => {
        if (!user) throw unauthorized()
        if (!isLongRunning(info)) request.hasPlace = inFlight.enter(info)
        if (request.hasPlace || isLongRunning(info) || isPrivileged(user.groups)) return impersonated(request, user)
        tooMany(reply)
        return 'over'
      },
    )
  }

  function impersonated(request: Request, sender: UserInfo): Awaitable<Outcome> {
    const attributes = attributesOf(request.info)
    const wished = impersonate && impersonationHeaders(request.reply.exchange)
    if (!wished) return authorized(request, sender, attributes)
    return impersonate(sender, wished, attributes).then(user => authorized(request, user, attributes))
  }

  function authorized(request: Request, user: UserInfo, attributes: AccessAttributes): Awaitable<Outcome> {
    return andThen(authorize(user, attributes), decision => {
      if (!decision.allowed) throw new Forbidden(refusal(user, attributes, decision))
      return request.info.isResource ? serveResource(request, user) : servePath(request, user)
    })
  }

  async function servePath({ reply, info }: Request, user: UserInfo): Promise<Outcome> {
    const handler = info.path.startsWith('//') ? undefined : findPath(info.path)
    if (handler) await handler({ info, user, reply })
    else nowhere(reply, info)
    return 'over'
  }

  function serveResource(request: Request, user: UserInfo): Awaitable<Outcome> {
    const { reply, info } = request
    const { method, headers } = reply.exchange
    const virtual = routeVirtual(method, headers, info)
    if (virtual) return serveVirtual(request, virtual, user)
    const route = router.route(method, headers, info)
    if (!route) {
      nowhere(reply, info)
      return 'over'
    }
    const { deprecationWarning } = route.target.version
    if (deprecationWarning) {
      reply.warn([deprecationWarning])
      onDeprecated?.(info, user, deprecationWarning)
    }
    return route.verb === 'watch' ? serveWatch(request, route) : serveVerb(reply, route, user)
  }

  async function serveWatch(request: Request, { target, query, offer }: Route): Promise<Outcome> {
    const { reply, info } = request
    const form = negotiateForm({ headers: reply.exchange.headers, query: info.query }, offer)
    const watch = await verbs.watch(target, query)
    watches.serve(reply, watch, form, query, () => end(request))
    return 'goes on'
  }

  function serveVerb(reply: Reply, route: Route, user: UserInfo): Awaitable<Outcome> {
    const { exchange } = reply
    const { verb, target, query, offer } = route
    // A patch of a kind that is not taken is refused before anything else.
    const type = verb === 'patch' ? patchType(exchange.headers, patchTypesOf(target)) : ''
    checkName(route)
    const form = negotiateForm({ headers: exchange.headers, query }, offer)
    const done = verb === 'get' ? verbs.get(target, query) : carryOutVerb(exchange, route, type, user)
    return andThen(done, answer => answerWith(reply, answer, form, query))
  }

  function answerWith(reply: Reply, answer: Result, form: Form, query: URLSearchParams): Awaitable<Outcome> {
    // The deadline may have passed meanwhile; then there is nothing left to say.
    if (reply.status !== 0) return 'over'
    const sending = reply.represent(represent(answer, form, query, now()))
    return sending ? sending.then(() => 'over') : 'over'
  }

  async function carryOutVerb(exchange: Exchange, route: Route, patch: string, user: UserInfo): Promise<Result> {
    const { verb, target, query } = route
    switch (verb) {
      case 'list':
        return verbs.list(target, query)
      case 'create': {
        const mediaType = bodyType(exchange.headers)
        return verbs.create(target, query, await readBody(exchange, mediaType), user)
      }
      case 'update': {
        const { bytes } = await readBody(exchange, '')
        return verbs.update(target, query, { bytes, mediaType: bodyType(exchange.headers) }, user)
      }
      case 'patch':
        return verbs.patch(target, query, await readBody(exchange, patch), user)
      case 'delete':
        return verbs.delete(target, query, await readOptions(exchange), user)
      default:
        return verbs.deleteCollection(target, query, await readOptions(exchange), user)
    }
  }

  async function serveVirtual({ reply, info }: Request, kind: VirtualResource, user: UserInfo): Promise<Outcome> {
    const { exchange } = reply
    const { query, namespace, name } = info
    const form = negotiateForm({ headers: exchange.headers, query }, TYPED_OBJECTS)
    const body = await readBody(exchange, bodyType(exchange.headers))
    const answer = await createVirtual(kind, { user, namespace, name, now: now() }, query, body)
    return answerWith(reply, answer, form, query)
  }

  /** A path that leads nowhere. */
  function nowhere(reply: Reply, info: RequestInfo): void {
    if (router.isBuiltinGroup(info) && !info.path.startsWith('//')) throw genericResponse(404)
    reply.text(404, '404 page not found\n')
  }

  function giveUp(request: Request): void {
    const { reply } = request
    if (reply.status === 0) answerError(request, tookTooLong())
    else if (!reply.exchange.gone) reply.abort()
  }

  function answerError({ reply, info }: Request, error: unknown): void {
    // Nobody is there any more to hear of it.
    if (error instanceof RequestCutShort || reply.exchange.gone) return
    const isOurs = !(error instanceof StatusError) && !(error instanceof Forbidden)
    if (isOurs) log(`${reply.exchange.method} ${reply.exchange.path} failed`, error)
    if (reply.status !== 0) return reply.abort()
    if (error instanceof StatusError) reply.warn(error.warnings)
    const headers = error instanceof Forbidden ? { 'x-content-type-options': 'nosniff' } : {}
    sendError(reply, info.query, statusOf(error), { headers })
  }

  function end({ reply, info, started, hasPlace }: Request): void {
    if (hasPlace) inFlight.leave(info)
    observe?.(info, reply.status, performance.now() - started)
  }

  return {
    handle(exchange) {
      try {
        live(exchange)
      } catch (error) {
        unanswered(error)
      }
    },
    endWatches: () => watches.end(),
    load: {
      get reading() {
        return inFlight.reading
      },
      get mutating() {
        return inFlight.mutating
      },
      get watches() {
        return watches.open
      },
    },
  }
}

/** A request on its way. */
interface Request {
  readonly reply: Reply
  readonly info: RequestInfo
  readonly started: number
  /** It counts among those under way. */
  hasPlace: boolean
}

/** A watch goes on when everything else about it is done. */
type Outcome = 'over' | 'goes on'

/** A URL that cannot be read is no request of the API: it gets what any web server would say. */
function understand(exchange: Exchange, reply: Reply): RequestInfo | undefined {
  try {
    return parseRequestInfo(exchange.method, exchange.path, exchange.query)
  } catch (error) {
    if (!(error instanceof MalformedPath)) throw error
    reply.send(400, { 'content-type': 'text/plain; charset=utf-8' }, '400 Bad Request')
    return undefined
  }
}

/** Refused by the authorizer; a verb that refuses says so without the extra header. */
class Forbidden extends Error {
  constructor(readonly error: StatusError) {
    super(error.message)
  }
}

/** What the caller wants to do, as the question is put to those who decide. */
function attributesOf({
  isResource,
  verb,
  path,
  group,
  resource,
  subresource,
  namespace,
  name,
}: RequestInfo): AccessAttributes {
  return isResource ? { verb, group, resource, subresource, namespace, name } : { verb, path }
}

function statusOf(error: unknown): Status {
  if (error instanceof StatusError) return error.status
  if (error instanceof Forbidden) return error.error.status
  return internalError('something went wrong in the server; its log says more').status
}

function tooMany(reply: Reply): void {
  reply.send(
    429,
    { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', 'retry-after': '1' },
    'Too many requests, please try again later.\n',
  )
}

async function readBody(exchange: Exchange, mediaType: string): Promise<Body> {
  try {
    return { bytes: await exchange.body(MAX_BODY), mediaType }
  } catch (error) {
    throw error instanceof BodyTooLarge ? requestEntityTooLarge(`limit is ${MAX_BODY}`) : error
  }
}

/** The options of a delete; where there are none, it does not matter what they would have been written in. */
async function readOptions(exchange: Exchange): Promise<Body> {
  const { bytes } = await readBody(exchange, '')
  return { bytes, mediaType: bytes.length === 0 ? '' : bodyType(exchange.headers) }
}
