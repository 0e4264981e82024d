import { expect, test } from 'vitest'
import type { AuditedRequest, RequestAudit } from '../../http/handler.js'
import { notFound } from '../../meta/errors/status.js'
import { parseRequestInfo } from '../../request/request-info.js'
import { NO_WAITS, type Wait } from '../../request/waits.js'
import { createAudit } from './audit-log.js'
import { type AuditConfig } from './policy.js'

const CONFIG: AuditConfig = { level: 'RequestResponse', omitStages: [], omitManagedFields: true }
const [path, query] = ['/api/v1/namespaces/a/configmaps', 'dryRun=All']

/** The events of one request, of which `act` says what happens to it. */
function eventsOf(
  config: Partial<AuditConfig>,
  act: (audit: RequestAudit, reply: { status: number }) => void,
  isAuthenticated = true,
  { now = 1, waits = NO_WAITS } = {},
) {
  const lines: string[] = []
  const reply = { status: 0 }
  const request = {
    info: parseRequestInfo('POST', path, query),
    user: { name: 'ann', uid: 'u', groups: ['g'], extra: { k: ['v'] } },
    impersonator: undefined,
    impersonationConstraint: undefined,
    decision: { allowed: true, reason: 'RBAC: allowed' },
    userAgent: 'test',
    auditId: 'id',
    exchange: { path, query },
    sourceIPs: ['127.0.0.1'],
    receivedAt: 0,
    annotations: new Map([['a.example/b', 'c'], ...(config.level === undefined ? [] : [[PATCH, '{}'] as const])]),
    waits,
    reply,
  } as unknown as AuditedRequest
  const policy = { evaluate: () => ({ ...CONFIG, ...config }) }
  const audit = createAudit(policy, { write: line => lines.push(line) > 0 }, () => now)(request, isAuthenticated)
  if (audit) act(audit, reply)
  return lines.map(line => JSON.parse(line) as Record<string, unknown>)
}

const PATCH = 'patch.webhook.admission.k8s.io/round_0_index_0'
const MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', managedFields: [{ manager: 'x' }] } }

function create(audit: RequestAudit, reply: { status: number }): void {
  audit.received()
  audit.object(MAP)
  reply.status = 201
  if (audit.wantsResponse) audit.response(Buffer.from(JSON.stringify({ ...MAP, data: {} })), 'application/json')
  audit.completed(false)
}

test('an event for each stage, with the members in the order of kube-apiserver', () => {
  const [received, complete] = eventsOf({}, create)
  expect(received).toEqual({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'RequestResponse',
    auditID: 'id',
    stage: 'RequestReceived',
    requestURI: '/api/v1/namespaces/a/configmaps?dryRun=All',
    verb: 'create',
    user: { username: 'ann', uid: 'u', groups: ['g'], extra: { k: ['v'] } },
    sourceIPs: ['127.0.0.1'],
    userAgent: 'test',
    objectRef: { resource: 'configmaps', namespace: 'a', apiVersion: 'v1' },
    requestReceivedTimestamp: '1970-01-01T00:00:00.000000Z',
    stageTimestamp: '1970-01-01T00:00:00.000000Z',
    annotations: expect.any(Object) as unknown,
  })
  expect(complete).toMatchObject({
    stage: 'ResponseComplete',
    objectRef: { resource: 'configmaps', namespace: 'a', name: 'm', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    requestObject: { kind: 'ConfigMap', metadata: { name: 'm' } },
    responseObject: { data: {} },
    stageTimestamp: '1970-01-01T00:00:00.001000Z',
    annotations: {
      'a.example/b': 'c',
      'authorization.k8s.io/decision': 'allow',
      'authorization.k8s.io/reason': 'RBAC: allowed',
    },
  })
  expect(JSON.stringify(complete)).not.toContain('managedFields')
})

test('a lower level leaves objects out, and stages can be left out', () => {
  const [complete, ...more] = eventsOf({ level: 'Metadata', omitStages: ['RequestReceived'] }, create)
  expect(more).toEqual([])
  expect(complete).not.toHaveProperty('requestObject')
  expect(complete).not.toHaveProperty('responseObject')
  expect(complete).toMatchObject({ objectRef: { name: 'm' } })
  expect(eventsOf({ level: 'Request' }, create)[1]).toHaveProperty('requestObject')
  expect(eventsOf({ level: 'None' }, create)).toEqual([])
})

test('the patches of webhooks are recorded with the object only', () => {
  const annotationsAt = (level: 'Metadata' | 'Request') => eventsOf({ level }, create)[1]!['annotations']
  expect(annotationsAt('Metadata')).not.toHaveProperty([PATCH])
  expect(annotationsAt('Request')).toHaveProperty([PATCH], '{}')
})

test('the Status of an error, of a bug and of a request without a user', () => {
  const fail =
    (isBug: boolean) =>
    (audit: RequestAudit, reply: { status: number }): void => {
      reply.status = 404
      audit.failed(notFound({ group: '', resource: 'configmaps' }, 'm').status)
      audit.completed(isBug)
    }
  const status = { status: 'Failure', reason: 'NotFound', message: 'configmaps "m" not found', code: 404 }
  expect(eventsOf({}, fail(false))).toMatchObject([
    { stage: 'ResponseComplete', responseStatus: status, responseObject: { kind: 'Status', ...status } },
  ])
  expect(eventsOf({}, fail(true))).toMatchObject([{ stage: 'Panic' }])
  expect(eventsOf({}, fail(false), false)).toMatchObject([{ stage: 'ResponseStarted', user: {} }])
})

test('a response that is too long is left out, and the event says so', () => {
  const [, complete] = eventsOf({}, audit => {
    audit.received()
    audit.response(undefined, 'application/json')
    audit.completed(false)
  })
  expect(complete).toMatchObject({ annotations: { 'audit.k8s.io/truncated': 'true' } })
  expect(complete).not.toHaveProperty('responseObject')
})

test('the event of a request that took long says what it waited for', () => {
  const waits = new Map<Wait, number>([['mutating-webhook', 700.25]])
  const annotationsAfter = (now: number) => eventsOf({}, create, true, { now, waits })[1]!['annotations']
  expect(annotationsAfter(500)).not.toHaveProperty(['apiserver.latency.k8s.io/total'])
  expect(annotationsAfter(1500)).toMatchObject({
    'apiserver.latency.k8s.io/mutating-webhook': '700.25ms',
    'apiserver.latency.k8s.io/total': '1.5s',
  })
})
