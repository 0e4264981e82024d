// The life of a request:
//
//   Exchange                      a request on the wire, and ways to answer it            wire/exchange.ts
//      │
//   parse the URL ─────── 400     method and URL → RequestInfo → Request                  wire/incoming-request.ts
//      │
//   audit ID                      the client's, or a new one                              filters/audit-id.ts
//      │
//   headers ───────────── 431     not too many                                            filters/header-limit.ts
//      │
//   deadline ──────────── 400     `timeout`; a request that takes longer is answered 504  filters/deadline.ts
//      │
//   authentication ────── 401     the user                                                filters/authentication.ts
//      │
//   audit                         what is recorded, by the policy                         filters/audit.ts
//      │
//   span                          the trace that the request belongs to                   filters/tracing.ts
//      │
//   impersonation ─────── 400 403 another user                                            filters/impersonation.ts
//      │
//   classification                flow schema and priority level                          filters/flow-classification.ts
//      │
//   authorization ─────── 403                                                             filters/authorization.ts
//      │
//   priority and fairness 429     a seat of its level, or a place in a queue; reading requests  flowcontrol/flow-control.ts
//   in-flight limits ──── 429     so many watches; without priority and fairness, N reading requests  filters/in-flight.ts
//      │
//   aggregation                   group versions of extension servers are passed on to them  serve/proxied.ts
//      │
//   routing ───────────── 404 405 a path, a virtual resource, or a kind and a verb        serve/routing.ts
//      │
//   negotiation ───────── 406 415 the format of the response, and that of the body        negotiation/negotiation.ts
//      │
//   body ──────────────── 413 429 so many may be on their way                             filters/arriving-bodies.ts
//      │
//   priority and fairness 429     the same for mutating requests                          flowcontrol/flow-control.ts
//   in-flight limits ──── 429     without that, at most M mutating requests               filters/in-flight.ts
//      │
//   verb ──────────────── any                                                             verbs/verbs.ts
//      │
//   encoding                      the result in the negotiated format                     response/encode-result.ts
//      │
//   response                      whole, in pieces, or event by event                     wire/reply.ts, wire/watch-stream.ts
//
// Each step continues with the next at once where nothing has to be waited for (`andThen`): a get of the embedded store
// is answered synchronously, without a promise, a timer or an AbortController.
//
// An error on the way is answered with the Status that it carries. An error without one is a bug of the server: it is
// logged and answered 500. Whatever happens, the request leaves the in-flight limiter once, in `end`.

import type { Authorize } from '../auth/authorizer.js'
import type { Impersonate } from '../auth/impersonation.js'
import { type Awaitable, andThen } from '../base/awaitable.js'
import type { Logger } from '../base/logger.js'
import type { FlowControl } from '../flowcontrol/flow-control.js'
import type { Registry } from '../kinds/registry.js'
import { internalError, type Status, StatusError } from '../meta/errors/status.js'
import { quote } from '../meta/go/go-text.js'
import type { UnstoredResource } from '../request/connect-resource.js'
import { ConnectionCut } from '../request/connection-cut.js'
import { deadlineExceeded, RequestAborted } from '../request/request.js'
import { MalformedPath, parseRequestInfo, type RequestInfo } from '../request/request-info.js'
import type { Wait } from '../request/waits.js'
import type { Verbs } from '../verbs/verbs.js'
import { sendError } from './errors.js'
import { createArrivingBodies } from './filters/arriving-bodies.js'
import { type Audit, type AuditedRequest, AuditFailed } from './filters/audit.js'
import { auditIdOf } from './filters/audit-id.js'
import { type Authenticate, authenticateRequest } from './filters/authentication.js'
import { AuthorizationFailed, attributesOf, authorizeRequest, Forbidden } from './filters/authorization.js'
import { isLongRunning, timeLimit } from './filters/deadline.js'
import { classifyRequest } from './filters/flow-classification.js'
import { checkHeaders } from './filters/header-limit.js'
import { impersonateUser } from './filters/impersonation.js'
import { createInFlightLimiter, isMutating } from './filters/in-flight.js'
import { beginTrace, endTrace, passOnTrace, type Tracing, verbSpan } from './filters/tracing.js'
import { DEFAULT_LIMITS, type LimitOptions } from './limits.js'
import type { Outcome } from './serve/outcome.js'
import { servePath } from './serve/path.js'
import type { FindPath } from './serve/paths.js'
import type { ProxiedRequest, Proxies } from './serve/proxied.js'
import { type OnDeprecated, type ResourceServing, serveResource } from './serve/resource.js'
import { createRouter } from './serve/routing.js'
import { createVirtualRouter } from './serve/virtual-routing.js'
import { type Exchange, RequestCutShort } from './wire/exchange.js'
import { IncomingRequest } from './wire/incoming-request.js'
import type { RequestAudit } from './wire/request-audit.js'
import { createResponseWriter, type ResponseWriter } from './wire/response-writer.js'
import { createSlowReaders, type SlowReaders } from './wire/slow-readers.js'
import { createWatchStreams, type WatchObserver } from './wire/watch-stream.js'

export type {
  Audit,
  AuditedRequest,
  Authenticate,
  OnDeprecated,
  Outcome,
  ProxiedRequest,
  Proxies,
  RequestAudit,
  Tracing,
  WatchObserver,
}

/** A request after it was served. `failure` is an error that is a bug of the server. */
export type ServedRequest = Pick<
  IncomingRequest,
  | 'info'
  | 'user'
  | 'impersonator'
  | 'decision'
  | 'userAgent'
  | 'auditId'
  | 'exchange'
  | 'log'
  | 'failure'
  | 'isRouted'
  | 'termination'
  | 'bodyBytes'
  | 'waits'
  | 'reply'
>

export interface ApiOptions {
  readonly registry: Registry
  readonly verbs: Verbs
  readonly authenticate: Authenticate
  readonly authorize: Authorize
  /** Without it, impersonation headers are ignored. */
  readonly impersonate?: Impersonate | undefined
  /** Decides which requests are served, wait or are rejected. Without it there are only the in-flight limits. */
  readonly flowControl?: FlowControl | undefined
  /** Resources that are answered and not stored. */
  readonly virtualResources?: readonly UnstoredResource[] | undefined
  /** Group versions that extension servers serve. */
  readonly proxies?: Proxies | undefined
  /** Serves the paths that name no resource. */
  readonly findPath: FindPath
  /** Whether bodies and responses may be CBOR. The default is true. */
  readonly cbor?: boolean | undefined
  readonly limits?: Partial<LimitOptions> | undefined
  /** What is held for clients that do not read, where the listeners were open before. */
  readonly readers?: SlowReaders | undefined
  /** How long a watch without timeoutSeconds lasts at least. */
  readonly minRequestTimeoutMs?: number | undefined
  readonly now?: (() => number) | undefined
  /** The Status of an error that is neither a StatusError nor a bug, such as one of the store. */
  readonly asStatusError?: ((error: unknown) => StatusError | undefined) | undefined
  readonly log: Logger
  /** Called for each request once it is answered, for the log and the metrics. */
  readonly observe?: ((request: ServedRequest, status: number, milliseconds: number) => void) | undefined
  /** Decides what is recorded of a request. */
  readonly audit?: Audit | undefined
  /** Undefined: no spans are recorded. */
  readonly tracing?: Tracing | undefined
  readonly onDeprecated?: OnDeprecated | undefined
  readonly observeWatch?: ((info: RequestInfo) => WatchObserver) | undefined
}

export interface ApiHandler {
  handle(exchange: Exchange): void
  /** What is held for clients that do not read; the listeners tell it of their connections. */
  readonly readers: SlowReaders
  /** Ends all watches, so that the server can stop. */
  endWatches(): void
  readonly load: { readonly reading: number; readonly mutating: number; readonly watches: number }
  /** The requests of the watches that are open. */
  openWatches(): Iterable<RequestInfo>
}

const MIN_REQUEST_TIMEOUT_MS = 1_800_000

/** Measures work that is not done at once: most is, and takes no time that says anything. */
function timed(request: IncomingRequest, wait: Wait, work: Awaitable<void>): Awaitable<void> {
  if (!(work instanceof Promise)) return work
  const began = performance.now()
  return work.finally(() => request.waitedFor(wait, performance.now() - began))
}

export function createApiHandler(options: ApiOptions): ApiHandler {
  const { registry, verbs, authenticate, authorize, impersonate, findPath, log, observe, onDeprecated, flowControl } =
    options
  const { proxies } = options
  const { virtualResources = [], now = Date.now, cbor = true } = options
  const limits: LimitOptions = { ...DEFAULT_LIMITS, ...options.limits }
  const readers = options.readers ?? createSlowReaders()
  // Priority and fairness has one limit for both, and its own answer to those that exceed it.
  const inFlight = createInFlightLimiter(flowControl ? { ...limits, maxReading: 0, maxMutating: 0 } : limits, readers)
  const bodies = createArrivingBodies()
  const router = createRouter(registry, virtualResources, cbor)
  const minRequestTimeoutMs = options.minRequestTimeoutMs ?? MIN_REQUEST_TIMEOUT_MS
  const watches = createWatchStreams({ minRequestTimeoutMs, now, observe: options.observeWatch })
  const routeVirtual = createVirtualRouter(virtualResources, cbor)
  const serving: ResourceServing = { router, routeVirtual, verbs, watches, now, onDeprecated }

  function handleExchange(exchange: Exchange): void {
    const info = parseUrl(exchange)
    if (!info) return
    const request = new IncomingRequest(exchange, info, auditIdOf(exchange), now(), log, cbor)
    const started = performance.now()
    try {
      checkHeaders(exchange)
      const limit = isLongRunning(info) ? undefined : timeLimit(info, limits)
      if (limit !== undefined) request.deadline = request.receivedAt + limit
      const outcome = runFilters(request, started)
      if (outcome instanceof Promise) void waitFor(request, outcome, limit, started)
      else next(request, outcome, started)
    } catch (error) {
      fail(request, error, started)
    }
  }

  /** Most reads of the embedded store are done at once; only a request that waits needs a timer. */
  async function waitFor(
    request: IncomingRequest,
    running: Promise<Outcome>,
    limit: number | undefined,
    started: number,
  ): Promise<void> {
    const timer = limit === undefined ? undefined : setTimeout(timeOut, limit, request)
    try {
      next(request, await running, started)
    } catch (error) {
      fail(request, error, started)
    } finally {
      clearTimeout(timer)
    }
  }

  function next(request: IncomingRequest, outcome: Outcome, started: number): void {
    if (outcome === 'done') return end(request, started)
    // A watch has its seats until it has begun.
    flowControl?.leave(request)
    request.audit?.started()
  }

  function runFilters(request: IncomingRequest, started: number): Awaitable<Outcome> {
    return andThen(timed(request, 'authentication', authenticateRequest(request, authenticate)), () => {
      if (options.audit) beginAudit(request, options.audit(request, true))
      request.trace = options.tracing ? beginTrace(request, options.tracing) : passOnTrace(request)
      return request.trace ? request.trace.run(() => serveUser(request, started)) : serveUser(request, started)
    })
  }

  function serveUser(request: IncomingRequest, started: number): Awaitable<Outcome> {
    const attributes = attributesOf(request.info)
    return andThen(timed(request, 'impersonation', impersonateUser(request, attributes, impersonate)), () => {
      classifyRequest(request, flowControl)
      return andThen(timed(request, 'authorization', authorizeRequest(request, attributes, authorize)), () => {
        const proxied = proxies?.find(request.info)
        if (proxied) {
          return andThen(takeSeats(request), () => proxied(request, () => end(request, started)))
        }
        if (!isMutating(request.info)) return andThen(takeSeats(request), () => serve(request, started))
        request.bodyReader = readCountedBody
        return serve(request, started)
      })
    })
  }

  function serve(request: IncomingRequest, started: number): Awaitable<Outcome> {
    if (!request.info.isResource) return servePath(findPath, router, request)
    const work = (): Awaitable<Outcome> => serveResource(serving, request, () => end(request, started))
    request.verbTrace = verbSpan(request)
    return request.verbTrace ? request.verbTrace.run(work) : work()
  }

  /** The request is served from now on, or later when it has waited; one that is rejected throws. */
  function takeSeats(request: IncomingRequest): Awaitable<void> {
    const entered = flowControl && request.flow ? flowControl.enter(request) : true
    return entered === true ? count(request) : andThen(entered, isServed => count(request, isServed))
  }

  function count(request: IncomingRequest, isServed = true): void {
    if (!isServed) throw new TooManyRequests(flowControl?.retryAfter(request.flow, now()))
    if (!inFlight.acquire(request)) throw new TooManyRequests()
    request.releaseSeats = release
    if (flowControl && request.info.verb === 'watch') request.forgetWatch = flowControl.addWatch(request.info)
  }

  function release(request: IncomingRequest): void {
    inFlight.release(request)
    flowControl?.leave(request)
  }

  function beginAudit(request: IncomingRequest, audit: RequestAudit | undefined): void {
    request.audit = audit
    if (audit?.wantsResponse && request.info.isResource) request.reply.tap = audit
    if (audit?.received() === false) throw new AuditFailed()
  }

  /** A request takes its place among those that are served when its body is there. */
  async function readCountedBody(request: IncomingRequest, limit: number): Promise<Buffer> {
    const arriving = bodies.enter(request.user)
    if (!arriving) throw new TooManyRequests()
    const body = await request.exchange
      .body(limit, bytes => {
        if (!arriving.grow(bytes)) throw new TooManyRequests()
      })
      .finally(arriving.leave)
    await takeSeats(request)
    return body
  }

  /** Answers a request that takes too long, and stops the work on it. */
  function timeOut(request: IncomingRequest): void {
    const { reply, exchange } = request
    const error = deadlineExceeded()
    request.termination = 504
    try {
      if (reply.status === 0) answerError(request, error)
      else if (!exchange.gone) reply.abort()
    } catch (unsent) {
      giveUp(request, unsent)
    } finally {
      request.abort(error)
    }
  }

  function fail(request: IncomingRequest, error: unknown, started: number): void {
    try {
      answerError(request, error)
    } catch (unsent) {
      giveUp(request, unsent)
    } finally {
      end(request, started)
    }
  }

  /** Without an end of its connection the client would wait for an answer that does not come. */
  function giveUp({ log: ofRequest, exchange }: IncomingRequest, error: unknown): void {
    ofRequest.error('a request could not be answered', { error })
    exchange.cut()
  }

  function answerError(request: IncomingRequest, thrown: unknown): void {
    const { reply, exchange, info } = request
    const error = options.asStatusError?.(thrown) ?? thrown
    if (error instanceof RequestCutShort) return
    if (error instanceof ConnectionCut) return exchange.cut()
    const isBug = ![StatusError, Forbidden, AuthorizationFailed, AuditFailed, TooManyRequests].some(
      type => error instanceof type,
    )
    if (isBug) request.failure = error
    // There is no client to answer, or the deadline has passed and the request is answered.
    if (exchange.gone || (error instanceof RequestAborted && reply.status !== 0)) return
    if (reply.status !== 0) return reply.abort()
    if (error instanceof TooManyRequests) {
      request.termination = 429
      return answerTooMany(reply, error.retryAfter)
    }
    if (error instanceof AuthorizationFailed || error instanceof AuditFailed)
      return answerFailed(reply, request.exchange, error)
    if (error instanceof RequestAborted) return answerTimedOut(reply, error)
    const headers = error instanceof Forbidden ? { 'x-content-type-options': 'nosniff' } : {}
    const status = statusOf(error)
    // Without a user nothing was recorded yet.
    if (options.audit && status.code === 401) request.audit ??= options.audit(request, false)
    request.audit?.failed(status)
    // Only verbs answer in CBOR: what comes before them knows the other formats.
    sendError(reply, info.query, status, { headers, cbor: request.cbor && request.isRouted && info.isResource })
  }

  function end(request: IncomingRequest, started: number): void {
    release(request)
    request.forgetWatch?.()
    request.audit?.completed(request.failure !== undefined)
    if (request.trace) endTrace(request)
    observe?.(request, request.reply.status, performance.now() - started)
  }

  return {
    handle(exchange) {
      try {
        handleExchange(exchange)
      } catch (error) {
        log.error('a request could not be answered', { error })
      }
    },
    readers,
    endWatches() {
      watches.end()
      proxies?.endStreams()
    },
    openWatches: () => watches.open(),
    load: {
      get reading() {
        return inFlight.reading
      },
      get mutating() {
        return inFlight.mutating
      },
      get watches() {
        return watches.count
      },
    },
  }
}

/** A URL that cannot be decoded is answered as any web server would, without a Status. */
function parseUrl(exchange: Exchange): RequestInfo | undefined {
  try {
    return parseRequestInfo(exchange.method, exchange.path, exchange.query)
  } catch (error) {
    if (!(error instanceof MalformedPath)) throw error
    createResponseWriter(exchange).send(400, { 'content-type': 'text/plain; charset=utf-8' }, '400 Bad Request')
    return undefined
  }
}

function statusOf(error: unknown): Status {
  if (error instanceof StatusError) return error.status
  if (error instanceof Forbidden) return error.error.status
  return internalError('something went wrong in the server; its log says more').status
}

/** There is no place for the request; it is not answered with a Status. */
class TooManyRequests extends Error {
  constructor(readonly retryAfter = 1) {
    super()
  }
}

const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function answerFailed(reply: ResponseWriter, { path, query }: Exchange, { message }: Error): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  const uri = quote(query === '' ? path : `${path}?${query}`)
  // What looks like HTML is escaped, because a URL may have any text in it.
  const text = `Internal Server Error: ${uri}: ${message}`.replace(/[&<>]/g, each => ESCAPED[each]!)
  reply.send(500, headers, `${text}\n`)
}

/** As kube-apiserver's timeout handler does: always JSON, without its media type, and without the kind of a Status. */
function answerTimedOut(reply: ResponseWriter, { status }: RequestAborted): void {
  const { message, reason, code } = status
  const body = { metadata: {}, status: 'Failure', message, reason, details: {}, code }
  reply.send(504, { 'content-type': 'text/plain; charset=utf-8' }, `${JSON.stringify(body)}\n`)
}

function answerTooMany(reply: ResponseWriter, seconds: number): void {
  reply.send(
    429,
    {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'retry-after': String(seconds),
    },
    'Too many requests, please try again later.\n',
  )
}
