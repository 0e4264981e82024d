// The span of a request, with kube-apiserver's name and attributes. The trace of the client is continued if it may decide what
// is recorded; a trace of its own is begun for so many of the others.
import {
  type Attributes,
  newSpanId,
  newTraceId,
  PassedOnSpan,
  Span,
  SpanKind,
  type SpanSink,
} from '../../base/tracing/span.js'
import { parseTraceContext, type TraceContext } from '../../base/tracing/trace-context.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { UserInfo } from '../../request/user-info.js'
import type { Exchange } from '../wire/exchange.js'
import type { IncomingRequest } from '../wire/incoming-request.js'

export interface Tracing {
  readonly sink: SpanSink
  /** Which part of the requests without a trace begin one: 0 to 1. */
  readonly ratio: number
}

/** Groups whose requests continue the trace that they name. */
const TRUSTED: ReadonlySet<string> = new Set(['system:masters', 'system:monitoring'])

/** Called once the user is known. Undefined for a request that is not traced. */
export function beginTrace(request: IncomingRequest, { sink, ratio }: Tracing): Span | undefined {
  const { traceparent, tracestate, baggage } = request.exchange.headers
  if (traceparent === undefined && ratio === 0) return undefined
  const remote = parseTraceContext(traceparent, tracestate, baggage)
  const parent = isTrusted(request.user) ? remote : undefined
  const context = parent ? { ...parent, spanId: newSpanId() } : rootContext(ratio)
  // A trace that is not recorded is still passed on.
  if (!parent && !context.isSampled) return undefined
  return new Span(
    {
      name: nameOf(request.info, request.exchange.method),
      kind: SpanKind.server,
      context,
      parent,
      isParentRemote: parent !== undefined,
      link: parent ? undefined : remote,
      attributes: context.isSampled ? attributesOf(request) : {},
      inherited: { 'audit-id': request.auditId },
    },
    sink,
  )
}

/** Where no spans are recorded, the trace of a request still reaches the processes that are asked for it. */
export function passOnTrace({ exchange }: IncomingRequest): Span | undefined {
  const { traceparent, tracestate, baggage } = exchange.headers
  const context = traceparent === undefined ? undefined : parseTraceContext(traceparent, tracestate, baggage)
  return context && new PassedOnSpan(context)
}

const isTrusted = ({ groups }: UserInfo): boolean => groups.some(group => TRUSTED.has(group))

/** As OpenTelemetry samples: the second half of the ID decides, so that all processes decide alike. */
function rootContext(ratio: number): TraceContext {
  const traceId = newTraceId()
  const isSampled = ratio >= 1 || Number.parseInt(traceId.slice(16, 28), 16) / 2 ** 48 < ratio
  return { traceId, spanId: newSpanId(), isSampled, state: '' }
}

function nameOf(
  { isResource, prefix, group, version, namespace, resource, name, subresource }: RequestInfo,
  method: string,
) {
  if (!isResource) return method
  const parts = [
    prefix,
    group,
    version,
    ...(namespace === '' ? [] : ['namespaces', '{:namespace}']),
    resource,
    name === '' ? '' : '{:name}',
    subresource,
  ]
  return `${method} /${parts.filter(part => part !== '').join('/')}`
}

function attributesOf({ exchange, userAgent, auditId, sourceIPs }: IncomingRequest): Attributes {
  const { method, path, query, peer } = exchange
  return {
    ...serverOf(exchange),
    'http.request.method': method,
    'url.scheme': peer.encrypted ? 'https' : 'http',
    'network.peer.address': peer.address,
    'user_agent.original': userAgent,
    'client.address': sourceIPs[0] ?? '',
    'url.path': path,
    'network.protocol.version': protocolOf(exchange),
    'http.target': query === '' ? path : `${path}?${query}`,
    'audit-id': auditId,
  }
}

/** The host and the port that the client asked for. */
function serverOf({ headers }: Exchange): Attributes {
  const [, name = '', port] = /^(.*?)(?::([0-9]+))?$/.exec(String(headers.host ?? headers[':authority'] ?? ''))!
  const host = name.replace(/^\[(.*)\]$/, '$1')
  return { 'server.address': host, ...(port !== undefined && { 'server.port': Number(port) }) }
}

const protocolOf = ({ headers }: Exchange): string => (headers[':authority'] === undefined ? '1.1' : '2.0')

/** The span of the verb. Other requests have none. */
export function verbSpan(request: IncomingRequest): Span | undefined {
  const { trace, info, exchange, userAgent, auditId, sourceIPs } = request
  const name = info.isResource ? NAMES[info.verb] : undefined
  if (!trace || name === undefined) return undefined
  return trace.child(name, {
    accept: exchange.headers.accept ?? '',
    'audit-id': auditId,
    client: sourceIPs[0] ?? '',
    'api-group': info.group,
    'api-version': info.version,
    name: info.name,
    subresource: info.subresource,
    namespace: info.namespace,
    protocol: `HTTP/${protocolOf(exchange)}`,
    resource: info.resource,
    scope: info.name !== '' || info.verb === 'create' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster',
    url: exchange.path,
    'user-agent': userAgent,
    verb: info.verb === 'list' ? 'LIST' : isApply(exchange) ? 'APPLY' : exchange.method,
  })
}

const isApply = ({ method, headers }: Exchange): boolean =>
  method === 'PATCH' && (headers['content-type'] ?? '').startsWith('application/apply-patch')

const NAMES: Readonly<Record<string, string>> = {
  get: 'Get',
  list: 'List',
  create: 'Create',
  update: 'Update',
  patch: 'Patch',
  delete: 'Delete',
  deletecollection: 'Delete',
}

/** Ends the spans of a request that is answered. */
export function endTrace({ trace, verbTrace, reply, bodyBytes }: IncomingRequest): void {
  verbTrace?.end()
  if (!trace) return
  trace.set({
    ...(bodyBytes !== undefined && bodyBytes > 0 && { 'http.request.body.size': bodyBytes }),
    'http.response.body.size': reply.bytes,
    'http.response.status_code': reply.status,
  })
  if (reply.status >= 500) trace.fail()
  trace.end()
}
