// Spans as the messages of OTLP, OpenTelemetry's protocol, in gRPC.
import type { Attributes, AttributeValue, FinishedSpan } from '../../base/tracing/span.js'
import { message, messageTypes } from '../../storage/grpc.js'

const method = messageTypes({
  ExportTraceServiceRequest: message({ resourceSpans: ['ResourceSpans', 1, 'repeated'] }),
  ExportTraceServiceResponse: message({}),
  ResourceSpans: message({ resource: ['Resource', 1], scopeSpans: ['ScopeSpans', 2, 'repeated'] }),
  Resource: message({ attributes: ['KeyValue', 1, 'repeated'] }),
  // The spans are encoded when they end.
  ScopeSpans: message({ scope: ['Scope', 1], spans: ['bytes', 2, 'repeated'] }),
  Scope: message({ name: ['string', 1] }),
  Span: message({
    traceId: ['bytes', 1],
    spanId: ['bytes', 2],
    traceState: ['string', 3],
    parentSpanId: ['bytes', 4],
    name: ['string', 5],
    kind: ['int32', 6],
    startTimeUnixNano: ['fixed64', 7],
    endTimeUnixNano: ['fixed64', 8],
    attributes: ['KeyValue', 9, 'repeated'],
    events: ['Event', 11, 'repeated'],
    links: ['Link', 13, 'repeated'],
    status: ['Status', 15],
    flags: ['fixed32', 16],
  }),
  Event: message({ timeUnixNano: ['fixed64', 1], name: ['string', 2], attributes: ['KeyValue', 3, 'repeated'] }),
  Link: message({ traceId: ['bytes', 1], spanId: ['bytes', 2], traceState: ['string', 3], flags: ['fixed32', 6] }),
  Status: message({ code: ['int32', 3] }),
  KeyValue: message({ key: ['string', 1], value: ['AnyValue', 2] }),
  AnyValue: message({
    stringValue: ['string', 1],
    boolValue: ['bool', 2],
    intValue: ['int64', 3],
    doubleValue: ['double', 4],
  }),
})

export const EXPORT = method<object, object>(
  'opentelemetry.proto.collector.trace.v1.TraceService/Export',
  'ExportTraceServiceRequest',
  'ExportTraceServiceResponse',
)

/** The request that sends encoded spans. `resource` describes this server. */
export const exportRequest = (spans: readonly Buffer[], resource: Attributes): object => ({
  resourceSpans: [
    { resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope: { name: 'binnacle' }, spans }] },
  ],
})

/** A span as bytes. They hold nothing else in memory: a part of a text keeps all of it. */
export const encodeSpan = (span: FinishedSpan): Buffer => SPAN.encode(messageOf(span)).subarray(FRAME_HEAD_BYTES)

const SPAN = method<object, object>('', 'Span', 'ExportTraceServiceResponse')
/** Before a message of gRPC. */
const FRAME_HEAD_BYTES = 5

const SAMPLED = 0x1
/** It is known whether the parent, or what is linked, is of another process. */
const HAS_IS_REMOTE = 0x100
const IS_REMOTE = 0x200
const ERROR = 2

const messageOf = ({ context, parent, link, isParentRemote, isError, ...span }: FinishedSpan): object => ({
  traceId: Buffer.from(context.traceId, 'hex'),
  spanId: Buffer.from(context.spanId, 'hex'),
  ...(context.state !== '' && { traceState: context.state }),
  ...(parent && { parentSpanId: Buffer.from(parent.spanId, 'hex') }),
  name: span.name,
  kind: span.kind,
  startTimeUnixNano: nanoseconds(span.start),
  endTimeUnixNano: nanoseconds(span.end),
  attributes: keyValues(span.attributes),
  events: span.events.map(({ name, time, attributes }) => ({
    timeUnixNano: nanoseconds(time),
    name,
    attributes: keyValues(attributes),
  })),
  links: link ? [{ ...idsOf(link), flags: HAS_IS_REMOTE | IS_REMOTE | (link.isSampled ? SAMPLED : 0) }] : [],
  status: isError ? { code: ERROR } : {},
  flags: SAMPLED | HAS_IS_REMOTE | (isParentRemote ? IS_REMOTE : 0),
})

const idsOf = ({ traceId, spanId, state }: FinishedSpan['context']): object => ({
  traceId: Buffer.from(traceId, 'hex'),
  spanId: Buffer.from(spanId, 'hex'),
  ...(state !== '' && { traceState: state }),
})

const keyValues = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))

/** Clients choose paths and the names of their programs, up to a megabyte. */
const MAX_TEXT = 16 * 1024

function anyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value.slice(0, MAX_TEXT) }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value }
}

/** 64 bits in two halves, since JavaScript's numbers do not hold them. */
const nanoseconds = (time: bigint): { readonly low: number; readonly high: number } => ({
  low: Number(time & 0xffffffffn),
  high: Number(time >> 32n),
})
