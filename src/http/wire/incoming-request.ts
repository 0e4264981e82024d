// A request of a client, as it comes from the wire. What costs something (the signal, the logger, the addresses) is made
// when it is first read, so that a get needs none of it.

import { isIP } from 'node:net'
import type { Decision } from '../../auth/authorizer.js'
import type { Logger } from '../../base/logger.js'
import type { Span } from '../../base/tracing/span.js'
import type { Flow, Place } from '../../flowcontrol/flow-control.js'
import { addAnnotation, clientGone, type Request, type RequestAborted } from '../../request/request.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { UserInfo } from '../../request/user-info.js'
import { NO_WAITS, type Wait, type Waits, withWait } from '../../request/waits.js'
import { Warnings } from '../../request/warnings.js'
import type { Exchange } from './exchange.js'
import type { RequestAudit } from './request-audit.js'
import { createResponseWriter, type ResponseWriter } from './response-writer.js'

export type InFlightKind = 'reading' | 'mutating' | 'watching'

export type ReadBody = (request: IncomingRequest, limit: number) => Promise<Buffer>

/** A class, since one is made for every request. Its fields are `private`: `#` fields take longer to create. */
export class IncomingRequest implements Request {
  readonly reply: ResponseWriter
  readonly warnings = new Warnings()
  readonly userAgent: string
  /** Set by authentication, and again by impersonation. */
  user: UserInfo = UNKNOWN
  impersonator: UserInfo | undefined
  /** The verb by which a newer mode of impersonation was allowed. */
  impersonationConstraint: string | undefined
  /** Set by authorization: whether the request is allowed, and why. */
  decision: Decision | undefined
  /** Set when the request is classified. */
  flow: Flow | undefined
  /** Its seats in its priority level, while it waits or is served. */
  place: Place | undefined
  /** Which limit counts it; see `filters/in-flight.ts`. */
  countedAs: InFlightKind | undefined
  /** Set when the request has its seats. A client that does not read would keep them from others. */
  releaseSeats: ((request: IncomingRequest) => void) | undefined
  /** Called when a watch is over. */
  forgetWatch: (() => void) | undefined
  deadline = Infinity
  /** Whether a resource or a path was found that serves the request. */
  isRouted = false
  /** With which code the server ended the request to protect itself: too many of them, or too long. */
  termination: 429 | 504 | undefined
  /** The length of the body that was read; undefined if none was. */
  bodyBytes: number | undefined
  /** How the body of a request is read that changes something; set when it is authorized. */
  bodyReader: ReadBody | undefined
  /** What is recorded of the request; set when it is authenticated, or was refused for want of that. */
  audit: RequestAudit | undefined
  /** The span of the request, and that of its verb; undefined while nothing is traced. */
  trace: Span | undefined
  verbTrace: Span | undefined
  /** How long it waited for others. */
  waits: Waits = NO_WAITS
  /** An error that is a bug of the server, for the log. */
  failure: unknown
  private abortError: RequestAborted | undefined
  private controller: AbortController | undefined
  private ownLog: Logger | undefined
  private ownAnnotations: Map<string, string> | undefined

  constructor(
    readonly exchange: Exchange,
    readonly info: RequestInfo,
    readonly auditId: string,
    readonly receivedAt: number,
    private readonly serverLog: Logger,
    /** Whether its body and its response may be CBOR. */
    readonly cbor: boolean,
  ) {
    this.userAgent = exchange.headers['user-agent'] ?? ''
    this.reply = createResponseWriter(exchange, this)
  }

  async readBody(limit: number): Promise<Buffer> {
    const body = await (this.bodyReader ? this.bodyReader(this, limit) : this.exchange.body(limit))
    this.bodyBytes = body.length
    this.verbTrace?.event('limitedReadBody succeeded', { len: body.length })
    return body
  }

  get sourceIPs(): readonly string[] {
    return sourceIPsOf(this.exchange)
  }

  get log(): Logger {
    return (this.ownLog ??= this.serverLog.child({ auditId: this.auditId }))
  }

  get aborted(): RequestAborted | undefined {
    if (!this.abortError && this.exchange.gone) this.abortError = clientGone()
    return this.abortError
  }

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController()
      if (this.aborted) this.controller.abort(this.aborted)
      else this.exchange.onGone(() => this.abort(clientGone()))
    }
    return this.controller.signal
  }

  onStall(): void {
    this.releaseSeats?.(this)
  }

  /** Stops the work on this request. Only the first error counts. */
  abort(error: RequestAborted): void {
    this.abortError ??= error
    this.controller?.abort(this.abortError)
  }

  get annotations(): ReadonlyMap<string, string> {
    return this.ownAnnotations ?? NO_ANNOTATIONS
  }

  warn(text: string): void {
    this.warnings.add(text)
  }

  annotate(key: string, value: string): void {
    this.ownAnnotations ??= new Map()
    addAnnotation(this.ownAnnotations, key, value)
  }

  waitedFor(wait: Wait, milliseconds: number): void {
    this.waits = withWait(this.waits, wait, milliseconds)
  }
}

const UNKNOWN: UserInfo = { name: '', uid: '', groups: [], extra: {} }
const NO_ANNOTATIONS: ReadonlyMap<string, string> = new Map()

/** The addresses that proxies forwarded, then the address of the connection. */
export function sourceIPsOf({ headers, peer }: Exchange): readonly string[] {
  const forwarded = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map(text => text.trim())
  const real = String(headers['x-real-ip'] ?? '').trim()
  const addresses = [...forwarded, real, peer.address].filter(address => isIP(address) !== 0)
  return [...new Set(addresses)]
}
