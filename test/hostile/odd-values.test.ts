// Values that a server may stumble over: each gets a Status of the client's error, never 500.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ODD_TEXTS } from '../generators/texts.js'
import type { Response } from '../server/request.js'
import { type HostileServer, many, startHostileServer } from './hostile-server.js'

let server: HostileServer
beforeAll(async () => {
  server = await startHostileServer('--authorization-mode=RBAC')
})
afterAll(() => server?.stop())

const NAMESPACE = '/api/v1/namespaces/default'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' }
const text = (value: unknown): string => JSON.stringify(value)

/** kube-apiserver itself answers some wrong patches with code 500, without a reason. */
function expectNoBug({ status, body, text: answer }: Response): void {
  if (status === 500 && body?.reason === undefined) return
  expect({ isAnswered: status >= 200 && status < 500, answer }).toMatchObject({ isAnswered: true })
}

/** The names that every object of JavaScript has. */
const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']

describe.each(INHERITED)('%s', name => {
  const pod = (spec: object, metadata = {}) => ({
    metadata: { generateName: 'odd-', ...metadata },
    spec: { containers: [{ name: 'a', image: 'x' }], ...spec },
  })
  /** As JSON.parse makes it, so that `__proto__` is a member like any other. */
  const map = JSON.parse(`{"${name}":"1"}`) as object
  test.each<[string, string, object | undefined, Record<string, string>?]>([
    [
      'POST',
      `${NAMESPACE}/configmaps`,
      { metadata: { generateName: 'odd-', labels: map, annotations: map }, data: map },
    ],
    ['POST', `${NAMESPACE}/pods`, pod({ nodeSelector: map })],
    [
      'POST',
      `${NAMESPACE}/pods`,
      pod({ containers: [{ name: 'a', image: 'x', resources: { limits: map, requests: map } }] }),
    ],
    ['POST', `${NAMESPACE}/pods`, pod({ containers: [{ name: 'a', image: 'x', resources: { limits: map } }] })],
    ['POST', `${NAMESPACE}/pods`, pod({ overhead: map })],
    [
      'POST',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All',
      {
        metadata: { generateName: 'odd-' },
        webhooks: [
          {
            name: 'a.b.c',
            clientConfig: { url: 'https://a/', ...map },
            rules: [{ operations: [name], apiGroups: [name], apiVersions: [name], resources: [name], scope: name }],
            namespaceSelector: { matchLabels: map, matchExpressions: [{ key: name, operator: name }] },
            matchConditions: [{ name, expression: `object.${name} == 1` }],
            sideEffects: name,
            failurePolicy: name,
            admissionReviewVersions: [name],
          },
        ],
      },
    ],
    [
      'POST',
      '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All',
      {
        metadata: { generateName: 'odd-' },
        spec: {
          paramKind: { apiVersion: `${name}/v1`, kind: name },
          variables: [{ name, expression: `{'${name}': 1}` }],
          validations: [{ expression: `has(object.${name}) || variables.${name}.${name} == 1`, reason: name }],
          auditAnnotations: [{ key: name, valueExpression: `string(object.metadata.labels['${name}'])` }],
          matchConstraints: {
            resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
          },
        },
      },
    ],
    [
      'POST',
      '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims?dryRun=All',
      {
        metadata: { generateName: 'odd-' },
        spec: {
          devices: {
            requests: [
              {
                name: 'a',
                exactly: {
                  deviceClassName: 'x',
                  allocationMode: name,
                  selectors: [{ cel: { expression: `device.attributes['${name}'].${name} == 1` } }],
                  capacity: { requests: map },
                },
              },
            ],
            config: [{ requests: [name], opaque: { driver: name, parameters: map } }],
          },
        },
      },
    ],
    [
      'POST',
      '/apis/resource.k8s.io/v1/resourceslices?dryRun=All',
      {
        metadata: { generateName: 'odd-' },
        spec: {
          driver: name,
          nodeName: 'n',
          pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
          devices: [{ name: 'a', attributes: { ...map, x: map }, capacity: map }],
        },
      },
    ],
    [
      'POST',
      '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas?dryRun=All',
      {
        metadata: { generateName: 'odd-' },
        spec: {
          distinguisherMethod: { type: name },
          priorityLevelConfiguration: { name },
          rules: [
            { subjects: [{ kind: name, user: { name } }], resourceRules: [{ verbs: [name], resources: [name] }] },
          ],
        },
      },
    ],
    [
      'POST',
      '/apis/authentication.k8s.io/v1/tokenreviews',
      {
        spec: { token: `a.${Buffer.from(`{"alg":"${name}","${name}":1}`).toString('base64url')}.x`, audiences: [name] },
      },
    ],
    ['POST', `${NAMESPACE}/resourcequotas`, { metadata: { generateName: 'odd-' }, spec: { hard: map } }],
    [
      'POST',
      `${NAMESPACE}/limitranges`,
      { metadata: { generateName: 'odd-' }, spec: { limits: [{ type: name, max: map, default: map }] } },
    ],
    [
      'POST',
      `${NAMESPACE}/services`,
      { metadata: { generateName: 'odd-' }, spec: { selector: map, type: name, ports: [{ port: 1, protocol: name }] } },
    ],
    [
      'POST',
      `${NAMESPACE}/persistentvolumeclaims`,
      { metadata: { generateName: 'odd-' }, spec: { accessModes: [name], resources: { requests: map } } },
    ],
    [
      'POST',
      '/apis/apps/v1/namespaces/default/deployments',
      {
        metadata: { generateName: 'odd-' },
        spec: { strategy: { type: name }, selector: { matchLabels: map }, template: pod({}, { labels: map }) },
      },
    ],
    [
      'POST',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      {
        spec: {
          user: name,
          extra: { [name]: [name] },
          resourceAttributes: { resource: name, group: name, verb: name },
        },
      },
    ],
    [
      'POST',
      '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      {
        metadata: { generateName: 'odd-' },
        spec: { request: '', signerName: name, usages: [name], extra: { [name]: [name] } },
      },
    ],
    [
      'POST',
      '/apis/storage.k8s.io/v1/storageclasses',
      { metadata: { generateName: 'odd-' }, provisioner: name, parameters: map, volumeBindingMode: name },
    ],
    ['POST', `/api/v1/nodes`, { metadata: { generateName: 'odd-' }, status: { capacity: map, allocatable: map } }],
    ['PATCH', `${NAMESPACE}/configmaps/none`, map, MERGE],
    ['PATCH', '/api/v1/namespaces/default', { metadata: { labels: map, annotations: map } }, MERGE],
    ['PATCH', '/api/v1/namespaces/default', { [`$setElementOrder/${name}`]: [name], $patch: name }, STRATEGIC],
    ['GET', `/api/v1/${name}`, undefined],
    ['GET', `/apis/${name}`, undefined],
    ['GET', `/apis/${name}/${name}/${name}/${name}`, undefined],
    ['GET', `/openapi/v3/${name}`, undefined],
    ['GET', `/healthz/${name}`, undefined],
    ['GET', `${NAMESPACE}/pods?fieldSelector=${name}%3D1`, undefined],
    ['GET', `${NAMESPACE}/pods?labelSelector=${name}%3D1&${name}=1`, undefined],
    ['GET', '/api/v1/pods', undefined, { [`impersonate-extra-${name}`]: 'x', 'impersonate-user': 'a' }],
    ['GET', '/api/v1/pods', undefined, { accept: `application/json;as=${name};v=${name};g=${name}` }],
  ])('%s %s', async (method, path, body, headers) => {
    expectNoBug(await server.send(method, path, body && text(body), headers))
  })
})

test.each(ODD_TEXTS.map(odd => [JSON.stringify(odd).slice(0, 40), odd]))('the name %s', async (_, odd) => {
  const create = await server.send('POST', `${NAMESPACE}/configmaps`, text({ metadata: { name: odd } }))
  expect(create.status).toBeLessThan(500)
  const path = encodeURIComponent(odd.toWellFormed())
  for (const target of [`${NAMESPACE}/configmaps/${path}`, `/api/v1/namespaces/${path}/pods`]) {
    expect((await server.send('GET', target)).status).toBeLessThan(500)
  }
  const token = Buffer.from(text({ v: 'meta.k8s.io/v1', rv: 1, start: odd })).toString('base64url')
  expect((await server.send('GET', `${NAMESPACE}/configmaps?limit=1&continue=${token}`)).status).toBeLessThan(500)
})

test.each<[string, string, string, Record<string, string>]>([
  ['a patch with apiVersion 1', '/api/v1/namespaces/default', '{"apiVersion":1}', MERGE],
  ['a patch with kind 1', '/api/v1/namespaces/default', '{"kind":1}', STRATEGIC],
  ['a patch with metadata 1', '/api/v1/namespaces/default', '{"metadata":1}', STRATEGIC],
  [
    'a deep strategic merge patch',
    '/api/v1/namespaces/default',
    `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`,
    STRATEGIC,
  ],
  ['a deep merge patch', '/api/v1/namespaces/default', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`, MERGE],
  [
    'a deep list in a strategic merge patch',
    '/api/v1/namespaces/default',
    `{"metadata":{"finalizers":${'['.repeat(9_000)}1${']'.repeat(9_000)}}}`,
    STRATEGIC,
  ],
])('%s', async (_, path, body, headers) => {
  expectNoBug(await server.send('PATCH', path, body, headers))
})

const nested = (depth: number, inside: string): string => `${'{"a":'.repeat(depth)}${inside}${'}'.repeat(depth)}`
const REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions'

test('free-form JSON that is nested 9,000 deep', async () => {
  const created = await server.send(
    'POST',
    REVISIONS,
    `{"metadata":{"name":"deep"},"revision":1,"data":${nested(9_000, '1')}}`,
  )
  expect(created.status).toBe(201)
  // The data cannot be changed, and the error shows them.
  const changed = await server.send('PATCH', `${REVISIONS}/deep`, `{"data":${nested(9_000, '2')}}`, MERGE)
  expect(changed.status).toBe(422)
  const entry = `{"manager":"m","operation":"Update","apiVersion":"v1","time":"2024-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":${nested(9_000, '{}')}}`
  const managed = await server.send(
    'POST',
    `${NAMESPACE}/configmaps`,
    `{"metadata":{"generateName":"odd-","managedFields":[${entry}]}}`,
  )
  expectNoBug(managed)
})

test.each([
  ['is nested 9,000 deep', nested(9_000, '1')],
  ['has numbers beyond 2^53', '{"a":9007199254740993,"b":1e300}'],
])('free-form JSON of a claim that %s', async (_, parameters) => {
  const config = `[{"opaque":{"driver":"example.com","parameters":${parameters}}}]`
  const claim = `{"metadata":{"generateName":"odd-"},"spec":{"devices":{"config":${config}}}}`
  const claims = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims'
  expect([201, 422]).toContain((await server.send('POST', claims, claim)).status)
})

test('the scale of an object with a deep value in the place of its replicas', async () => {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const versions = [
    { name: 'v1', served: true, storage: true, schema, subresources: { scale } },
    { name: 'v2', served: true, storage: false, schema },
  ]
  const names = { plural: 'scaleds', kind: 'Scaled' }
  const definition = {
    metadata: { name: 'scaleds.example.com' },
    spec: { group: 'example.com', scope: 'Cluster', names, versions },
  }
  await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', text(definition))
  const of = (version: string): string =>
    `{"apiVersion":"example.com/${version}","kind":"Scaled","metadata":{"name":"a"},"spec":${'['.repeat(9_000)}${']'.repeat(9_000)}}`
  expect((await server.send('POST', '/apis/example.com/v1/scaleds', of('v1'))).status).toBe(422)
  // The version without a scale does not look at the replicas.
  expect((await server.send('POST', '/apis/example.com/v2/scaleds', of('v2'))).status).toBe(201)
  const { status, body } = await server.send('GET', '/apis/example.com/v1/scaleds/a/scale')
  expect({ status, reason: body.reason, message: body.message }).toEqual({
    status: 500,
    reason: undefined,
    message: expect.stringMatching(/^\.spec\.replicas accessor error: \[/),
  })
})

test('a name that no key can have', async () => {
  const event = { metadata: { name: 'a\0b', namespace: 'default' }, involvedObject: { namespace: 'default' } }
  expect((await server.send('POST', `${NAMESPACE}/events`, text(event))).status).toBe(400)
})

test.each([
  ['labelSelector', 'a,'.repeat(200_000)],
  ['labelSelector', many(20_000, i => `a%20in%20(b,c${i})`)],
  ['fieldSelector', many(20_000, i => `metadata.name!%3D${i}`)],
])('a %s with very many requirements', async (parameter, selector) => {
  const { status, text: answer } = await server.send('GET', `${NAMESPACE}/configmaps?${parameter}=${selector}a`)
  expect({ status, answer }).toEqual({ status: 400, answer: expect.stringContaining('at most 1000 requirements') })
})

test('rules without verbs are refused for a user who is no administrator', async () => {
  const rule = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create', 'get'] }
  const role = { metadata: { name: 'writers', namespace: 'default' }, rules: [rule] }
  const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
  await server.send('POST', `${roles}/roles`, text(role))
  const subject = { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }
  const roleRef = { kind: 'Role', name: 'writers', apiGroup: 'rbac.authorization.k8s.io' }
  await server.send('POST', `${roles}/rolebindings`, text({ metadata: { name: 'w' }, subjects: [subject], roleRef }))
  for (const rules of [
    [{ verbs: [] }],
    [{}],
    [{ verbs: [], resources: [], apiGroups: [] }],
    [{ nonResourceURLs: ['/'] }],
  ]) {
    const sent = text({ metadata: { generateName: 'r-' }, rules })
    const { status } = await server.send('POST', `${roles}/roles`, sent, { token: 'alice-token' })
    expect([403, 422]).toContain(status)
  }
  const wide = text({
    metadata: { name: 'wide' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: JSON.parse(`[${many(5_000, i => `"r${i}"`)}]`) as string[] }],
  })
  const refused = await server.send('POST', `${roles}/roles`, wide, { token: 'alice-token' })
  expect(refused.status).toBe(403)
  expect(refused.text.length).toBeLessThan(4 * 2 ** 20)
})
