// The audit log: an event of audit.k8s.io/v1 for each stage of a request, as the policy says, one line of JSON each.
import type { MetricsRegistry } from '../../base/metrics.js'
import { decodeCbor } from '../../codec/cbor.js'
import { decodeJson, encodeJson } from '../../codec/json.js'
import { decodeYaml } from '../../codec/yaml.js'
import type { Audit, AuditedRequest, RequestAudit } from '../../http/handler.js'
import type { Status } from '../../meta/errors/status.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { printDuration, printMicroTime } from '../../meta/values/time.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { printUserInfo } from '../../request/user-info.js'
import { decodeObject, openEnvelope } from '../../types/protobuf.js'
import { builtinTypes } from '../../types/type-table.js'
import { type AuditConfig, type AuditPolicy, type AuditStage, LEVELS } from './policy.js'

/** The annotation of an event without objects that were too large. */
export const TRUNCATED = 'audit.k8s.io/truncated'

export interface AuditSink {
  /** False if the event is lost and its request is to be refused therefore. */
  write(line: string): boolean
}

/** Counts the events that are written. */
export function countedSink(sink: AuditSink, metrics: MetricsRegistry): AuditSink {
  const events = metrics
    .counter('apiserver_audit_event_total', 'Counter of audit events generated and sent to the audit backend.', [])
    .with()
  return {
    write(line) {
      events.inc()
      return sink.write(line)
    },
  }
}

export function createAudit(policy: AuditPolicy, sink: AuditSink, now: () => number): Audit {
  return (request, isAuthenticated) => {
    const config = policy.evaluate(request.info, isAuthenticated ? request.user : undefined)
    return config.level === 'None' ? undefined : createTrail(request, isAuthenticated, config, sink, now)
  }
}

function createTrail(
  request: AuditedRequest,
  isAuthenticated: boolean,
  { level, omitStages, omitManagedFields }: AuditConfig,
  sink: AuditSink,
  now: () => number,
): RequestAudit {
  const reaches = (wanted: (typeof LEVELS)[number]): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(wanted)
  const user = isAuthenticated ? printUserInfo(request.user) : {}
  let requestObject: Value | undefined
  let responseObject: Value | undefined
  let isTruncated = false
  let status: ValueObject | undefined
  const named: Record<string, string> = {}

  function emit(stage: AuditStage): boolean {
    if (omitStages.includes(stage)) return true
    const isReceived = stage === 'RequestReceived'
    const at = now()
    const event: ValueObject = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level,
      auditID: request.auditId,
      stage,
      requestURI: uriOf(request),
      verb: request.info.verb,
      user,
      ...(!isReceived && request.impersonator ? { impersonatedUser: printUserInfo(request.user) } : {}),
      ...(!isReceived && request.impersonationConstraint !== undefined
        ? { authenticationMetadata: { impersonationConstraint: request.impersonationConstraint } }
        : {}),
      sourceIPs: [...request.sourceIPs],
      ...(request.userAgent ? { userAgent: request.userAgent } : {}),
      ...(request.info.isResource ? { objectRef: referenceOf(request, named) } : {}),
      ...(isReceived ? {} : { responseStatus: { metadata: {}, ...status, code: request.reply.status } }),
      ...(!isReceived && requestObject !== undefined && reaches('Request') ? { requestObject } : {}),
      ...(!isReceived && responseObject !== undefined ? { responseObject } : {}),
      requestReceivedTimestamp: printMicroTime(request.receivedAt),
      stageTimestamp: printMicroTime(isReceived ? request.receivedAt : at),
      ...annotationsOf(
        request,
        reaches('Request'),
        isTruncated,
        stage === 'ResponseComplete' ? latenciesOf(request, at) : [],
      ),
    }
    return sink.write(`${encodeJson(event)}\n`)
  }

  return {
    received: () => emit('RequestReceived'),
    wantsResponse: reaches('RequestResponse'),
    object(value) {
      if (!isObject(value)) return
      const meta = objectAt(value, 'metadata')
      for (const name of ['name', 'namespace', 'uid', 'resourceVersion']) {
        if (stringAt(meta, name) !== '') named[name] = stringAt(meta, name)
      }
      requestObject = shown(value)
    },
    patch(bytes, mediaType) {
      if (reaches('Request')) requestObject = decoded(bytes, mediaType)
    },
    deleteOptions(bytes, mediaType) {
      const options = reaches('Request') ? decoded(bytes, mediaType) : undefined
      // kube-apiserver shows its internal version.
      if (isObject(options)) requestObject = { ...options, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal' }
    },
    response(bytes, mediaType) {
      isTruncated = bytes === undefined
      const value = bytes && decoded(bytes, mediaType)
      if (value === undefined) return
      responseObject = shown(value)
      if (isObject(value) && value['kind'] === 'Status') status = printStatus(value as unknown as Status)
    },
    failed(error) {
      status = printStatus(error)
      if (reaches('RequestResponse'))
        responseObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, ...status, code: error.code ?? 0 }
    },
    started: () => void emit('ResponseStarted'),
    completed: isBug => {
      // A request that was not authenticated is recorded once.
      if (!isAuthenticated) emit('ResponseStarted')
      else emit(isBug ? 'Panic' : 'ResponseComplete')
    },
  }

  function shown(value: Value): Value {
    return omitManagedFields && isObject(value) ? withoutManagedFields(value) : value
  }
}

/** The members of a Status beside its metadata and code. */
function printStatus({ status, message, reason, details }: Status): ValueObject {
  const members = { status, message, reason, details } as unknown as ValueObject
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== ''))
}

const uriOf = ({ exchange }: AuditedRequest): string =>
  exchange.query === '' ? exchange.path : `${exchange.path}?${exchange.query.replace(/^\?/, '')}`

/** What the URL leaves open, such as the name of a new object, is read from the object. */
function referenceOf({ info }: AuditedRequest, named: Readonly<Record<string, string>>): ValueObject {
  const { resource, namespace, name, group, version, subresource } = info
  const members = {
    resource,
    namespace: namespace || (named['namespace'] ?? ''),
    name: name || (named['name'] ?? ''),
    uid: named['uid'] ?? '',
    apiGroup: group,
    apiVersion: version,
    resourceVersion: named['resourceVersion'] ?? '',
    subresource,
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''))
}

type Annotation = [key: string, value: string]

/** Only of a request that took longer is it recorded what it waited for. */
const LONG_MS = 500

function latenciesOf({ waits, receivedAt }: AuditedRequest, at: number): readonly Annotation[] {
  const total = at - receivedAt
  if (total <= LONG_MS) return []
  return [...waits, ['total', total] as const].map(([name, milliseconds]) => [
    `apiserver.latency.k8s.io/${name}`,
    printDuration(BigInt(Math.round(milliseconds * 1e6))),
  ])
}

/** The patches of webhooks hold parts of the object, so they are recorded where the object is. All others are metadata. */
const OF_OBJECTS = 'patch.webhook.admission.k8s.io/'

function annotationsOf(
  { annotations, decision }: AuditedRequest,
  withObjects: boolean,
  isTruncated: boolean,
  latencies: readonly Annotation[],
): { annotations?: ValueObject } {
  const all = [...annotations].filter(([key]) => withObjects || !key.startsWith(OF_OBJECTS))
  all.push(...latencies)
  if (isTruncated) all.push([TRUNCATED, 'true'])
  if (decision) {
    all.push(['authorization.k8s.io/decision', decision.allowed ? 'allow' : 'forbid'])
    all.push(['authorization.k8s.io/reason', decision.reason])
  }
  if (all.length === 0) return {}
  return { annotations: Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1))) }
}

/** A body as a value; undefined if it is none. */
function decoded(bytes: Buffer, mediaType: string): Value | undefined {
  try {
    if (mediaType.includes('protobuf')) return decodeObject(builtinTypes(), openEnvelope(bytes))
    if (mediaType.includes('cbor')) return decodeCbor(bytes).value
    return (mediaType.includes('yaml') ? decodeYaml(bytes) : decodeJson(bytes)).value
  } catch {
    return undefined
  }
}

function withoutManagedFields(object: ValueObject): ValueObject {
  const { managedFields: _, ...metadata } = objectAt(object, 'metadata')
  const items = Array.isArray(object['items']) ? { items: objectsAt(object, 'items').map(withoutManagedFields) } : {}
  return { ...object, ...(isObject(object['metadata']) ? { metadata } : {}), ...items }
}
