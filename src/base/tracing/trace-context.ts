// The trace that a request belongs to, as the headers `traceparent`, `tracestate` and `baggage` name it (W3C Trace Context).

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Whether the spans of the trace are recorded. */
  readonly isSampled: boolean
  /** What other tracing systems have added; empty if nothing. */
  readonly state: string
  /** Values of the client's that go with the trace. */
  readonly baggage?: string | undefined
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)

/** Undefined if the headers name no trace. */
export function parseTraceContext(parent: unknown, state: unknown, baggage?: unknown): TraceContext | undefined {
  const parts = typeof parent === 'string' ? FORM.exec(parent.trim()) : null
  if (!parts) return undefined
  const [, version, traceId, spanId, flags, more] = parts as unknown as [
    string,
    string,
    string,
    string,
    string,
    string?,
  ]
  // Version 00 ends after the flags; later ones may go on. ff is no version.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return {
    traceId,
    spanId,
    isSampled,
    state: typeof state === 'string' && state.length <= MAX_STATE ? state : '',
    ...(typeof baggage === 'string' && baggage.length <= MAX_BAGGAGE && { baggage }),
  }
}

/** 32 members of a key and a value with at most 256 characters each. */
const MAX_STATE = 32 * (256 + 1 + 256 + 1)
const MAX_BAGGAGE = 8192

/** The headers of a call that belongs to the trace. */
export function traceHeaders({ traceId, spanId, isSampled, state, baggage }: TraceContext): Record<string, string> {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
  return {
    traceparent,
    ...(state !== '' && { tracestate: state }),
    ...(baggage !== undefined && { baggage }),
  }
}
