// Spans: what was done for a request, and how long it took. The span of a request is found anywhere below it without being
// passed on, by the AsyncLocalStorage here. That is switched on by the first request that is traced; before, asking for the
// span costs nothing.
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { type TraceContext, traceHeaders } from './trace-context.js'

export type AttributeValue = string | number | boolean
export type Attributes = Readonly<Record<string, AttributeValue>>

/** As OTLP numbers them. */
export const SpanKind = { internal: 1, server: 2, client: 3 } as const
export type SpanKind = (typeof SpanKind)[keyof typeof SpanKind]

export interface SpanEvent {
  readonly name: string
  /** Nanoseconds since 1970. */
  readonly time: bigint
  readonly attributes: Attributes
}

/** A span that has ended. */
export interface FinishedSpan {
  readonly context: TraceContext
  readonly parent: TraceContext | undefined
  /** The parent is a span of another process. */
  readonly isParentRemote: boolean
  /** A trace that the client asked for and that is not continued. */
  readonly link: TraceContext | undefined
  readonly name: string
  readonly kind: SpanKind
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  /** Whether what the span is about has failed. */
  readonly isError: boolean
}

/** Takes the spans that have ended. */
export type SpanSink = (span: FinishedSpan) => void

export interface SpanInit {
  readonly name: string
  readonly kind: SpanKind
  readonly context: TraceContext
  readonly parent?: TraceContext | undefined
  readonly isParentRemote?: boolean
  readonly link?: TraceContext | undefined
  readonly attributes: Attributes
  /** Attributes of the spans below, too. */
  readonly inherited?: Attributes
}

export const newTraceId = (): string => randomBytes(16).toString('hex')
export const newSpanId = (): string => randomBytes(8).toString('hex')

const current = new AsyncLocalStorage<Span>()

/** The span of the work that is done now. */
export const activeSpan = (): Span | undefined => current.getStore()

export class Span {
  private readonly start = now()
  private readonly events: SpanEvent[] = []
  private attributes: Attributes
  private isError = false
  private isOver = false

  constructor(
    private readonly init: SpanInit,
    private readonly sink: SpanSink,
  ) {
    this.attributes = init.attributes
  }

  get context(): TraceContext {
    return this.init.context
  }

  /** A part of this span. */
  child(name: string, attributes: Attributes, kind: SpanKind = SpanKind.internal): Span {
    const { context, inherited = {} } = this.init
    return new Span(
      {
        name,
        kind,
        context: { ...context, spanId: newSpanId() },
        parent: context,
        attributes: kind === SpanKind.internal ? { ...inherited, ...attributes } : attributes,
        inherited,
      },
      this.sink,
    )
  }

  /** Does the work so that `activeSpan` finds this span in it. */
  run<T>(work: () => T): T {
    return current.run(this, work)
  }

  event(name: string, attributes: Attributes = {}): void {
    if (this.context.isSampled) this.events.push({ name, time: now(), attributes })
  }

  set(attributes: Attributes): void {
    this.attributes = { ...this.attributes, ...attributes }
  }

  fail(): void {
    this.isError = true
  }

  /** Only the first call counts. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    if (!this.context.isSampled) return
    const { parent, isParentRemote = false, link, ...init } = this.init
    const { start, attributes, events, isError } = this
    this.sink({ ...init, parent, isParentRemote, link, start, end: now(), attributes, events, isError })
  }
}

/** A trace that is only passed on to other processes: no part of it is recorded here. */
export class PassedOnSpan extends Span {
  constructor(context: TraceContext) {
    super({ name: '', kind: SpanKind.internal, context, attributes: {} }, () => {})
  }
  override child(): Span {
    return this
  }
  override event(): void {}
  override set(): void {}
  override fail(): void {}
  override end(): void {}
}

/** Does the work in a span of its own, if a request is traced. `attributes` is called only then. */
export function traced<T>(
  name: string,
  attributes: () => Attributes,
  work: (span?: Span) => Promise<T>,
  kind: SpanKind = SpanKind.internal,
): Promise<T> {
  const parent = activeSpan()
  return parent === undefined ? work() : inSpan(parent.child(name, attributes(), kind), work)
}

async function inSpan<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await span.run(() => work(span))
  } catch (error) {
    span.fail()
    throw error
  } finally {
    span.end()
  }
}

/** The headers by which a call of another process continues the trace of the request. */
export const outgoingTraceHeaders = (span = activeSpan()): Record<string, string> =>
  span === undefined ? {} : traceHeaders(span.context)

/** Nanoseconds since 1970. */
const now = (): bigint => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n
