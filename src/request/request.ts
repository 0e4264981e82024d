// One request, from http down to the store: what it is about, the user, the deadline, the log, and the warnings and
// audit annotations that are collected while it is carried out. http makes one for each request
// (`http/wire/incoming-request.ts`); writes of the server itself make theirs with `systemRequest`.

import type { Cancellation } from '../base/cancellation.js'
import { type Logger, NO_LOGGER } from '../base/logger.js'
import { StatusError, timeout } from '../meta/errors/status.js'
import { parseRequestInfo, type RequestInfo } from './request-info.js'
import type { Target } from './target.js'
import type { UserInfo } from './user-info.js'
import type { Wait } from './waits.js'
import { Warnings } from './warnings.js'

export interface Request extends Cancellation {
  /** The Audit-ID header of the request, or a UUID. It is sent back and is in every line of the log. */
  readonly auditId: string
  readonly info: RequestInfo
  /** After impersonation. */
  readonly user: UserInfo
  /** The authenticated user, if another one is impersonated. */
  readonly impersonator: UserInfo | undefined
  readonly userAgent: string
  readonly sourceIPs: readonly string[]
  /** Milliseconds, by the clock of the server. */
  readonly receivedAt: number
  /** Milliseconds; Infinity for watches and for writes of the server itself. */
  readonly deadline: number
  readonly log: Logger
  readonly warnings: Warnings
  /** Audit annotations. */
  readonly annotations: ReadonlyMap<string, string>
  /** Adds a `Warning` header to the response, also to one that is an error. */
  warn(text: string): void
  /** Adds an audit annotation. The first value of a key stays, and there are at most a thousand. */
  annotate(key: string, value: string): void
  /** Adds to the time that the request waited for others. */
  waitedFor(wait: Wait, milliseconds: number): void
}

/** A request with the options of its verb: CreateOptions, ListOptions and so on. */
export interface RequestWithOptions<O = unknown> extends Request {
  readonly options: O
  readonly dryRun: boolean
}

/** A request to a stored resource. */
export interface ResourceRequest<O = unknown> extends RequestWithOptions<O> {
  readonly target: Target
}

/** The client has gone, or the deadline has passed: nothing more is done, and nothing was stored since. */
export class RequestAborted extends StatusError {}

export const clientGone = (): RequestAborted => new RequestAborted(timeout('the client closed the request').status)

export const deadlineExceeded = (): RequestAborted =>
  new RequestAborted(timeout('request did not complete within the allotted timeout').status)

/** The request as one to this resource. */
export const forResource = <O>(request: Request, target: Target, options: O): ResourceRequest<O> =>
  new TargetedRequest(requestIn(request), options, target)

export const withOptions = <O>(request: Request, options: O): RequestWithOptions<O> =>
  new OptionsRequest(requestIn(request), options)

const requestIn = (request: Request): Request => (request instanceof OptionsRequest ? request.request : request)

/** A class, since one is made for every request to a resource. */
class OptionsRequest<O> implements RequestWithOptions<O> {
  constructor(
    readonly request: Request,
    readonly options: O,
  ) {}

  get dryRun(): boolean {
    return (this.options as { readonly dryRun?: boolean }).dryRun === true
  }
  get auditId(): string {
    return this.request.auditId
  }
  get info(): RequestInfo {
    return this.request.info
  }
  get user(): UserInfo {
    return this.request.user
  }
  get impersonator(): UserInfo | undefined {
    return this.request.impersonator
  }
  get userAgent(): string {
    return this.request.userAgent
  }
  get sourceIPs(): readonly string[] {
    return this.request.sourceIPs
  }
  get receivedAt(): number {
    return this.request.receivedAt
  }
  get deadline(): number {
    return this.request.deadline
  }
  get signal(): AbortSignal {
    return this.request.signal
  }
  get aborted(): Error | undefined {
    return this.request.aborted
  }
  get log(): Logger {
    return this.request.log
  }
  get warnings(): Warnings {
    return this.request.warnings
  }
  get annotations(): ReadonlyMap<string, string> {
    return this.request.annotations
  }
  warn(text: string): void {
    this.request.warn(text)
  }
  annotate(key: string, value: string): void {
    this.request.annotate(key, value)
  }
  waitedFor(wait: Wait, milliseconds: number): void {
    this.request.waitedFor(wait, milliseconds)
  }
}

class TargetedRequest<O> extends OptionsRequest<O> implements ResourceRequest<O> {
  constructor(
    request: Request,
    options: O,
    readonly target: Target,
  ) {
    super(request, options)
  }
}

// ---- the server's own requests

export interface SystemRequestOptions {
  readonly user: UserInfo
  /** Also the field manager of the writes. */
  readonly userAgent: string
  readonly log?: Logger | undefined
  /** Aborted when the work is to stop. */
  readonly signal?: AbortSignal | undefined
  readonly receivedAt?: number | undefined
}

/** A request that comes from no client: it has no deadline, and its warnings are not shown. */
export const systemRequest = (options: SystemRequestOptions): Request => new SystemRequest(options)

const NO_INFO = parseRequestInfo('', '/', '')
const NO_ADDRESSES: readonly string[] = []

class SystemRequest implements Request {
  readonly auditId = ''
  readonly info = NO_INFO
  readonly user: UserInfo
  readonly impersonator = undefined
  readonly userAgent: string
  readonly sourceIPs = NO_ADDRESSES
  readonly receivedAt: number
  readonly deadline = Infinity
  readonly log: Logger
  readonly warnings = new Warnings()
  readonly annotations = new Map<string, string>()
  #signal: AbortSignal | undefined

  constructor({ user, userAgent, log = NO_LOGGER, signal, receivedAt = 0 }: SystemRequestOptions) {
    this.#signal = signal
    this.user = user
    this.userAgent = userAgent
    this.log = log
    this.receivedAt = receivedAt
  }

  get signal(): AbortSignal {
    return (this.#signal ??= new AbortController().signal)
  }

  get aborted(): Error | undefined {
    return this.#signal?.aborted ? (this.#signal.reason as Error) : undefined
  }

  warn(text: string): void {
    this.warnings.add(text)
  }

  annotate(key: string, value: string): void {
    addAnnotation(this.annotations, key, value)
  }

  waitedFor(): void {
    // It has no latency that is measured.
  }
}

/** A webhook may answer with very many, which would be sorted and printed at once for each event. Later ones are dropped. */
const MAX_ANNOTATIONS = 1_000

/** The first value of a key stays. */
export function addAnnotation(annotations: Map<string, string>, key: string, value: string): void {
  if (annotations.size < MAX_ANNOTATIONS && !annotations.has(key)) annotations.set(key, value)
}
