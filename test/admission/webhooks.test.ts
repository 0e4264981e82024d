// Admission webhooks of a running server, called over https.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Binnacle, type LogLine, startBinnacle } from '../../src/server/index.js'
import { sendRequest } from '../server/request.js'
import { type AdmissionWebhookServer, startAdmissionWebhook } from './admission-webhook-server.js'

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'

let server: Binnacle
let webhook: AdmissionWebhookServer
let logged: LogLine[]

beforeEach(async () => {
  logged = []
  webhook = await startAdmissionWebhook(['127.0.0.1', 'hook.default.svc'])
  const webhookHosts = { 'hook.default.svc': `127.0.0.1:${webhook.port}` }
  // It creates ConfigMaps, whose reviews would be among those of the tests.
  server = await startBinnacle({
    webhookHosts,
    controllers: ['*', '-root-ca-certificate-publisher-controller'],
    log: line => logged.push(line),
    verbosity: 1,
  })
})
afterEach(async () => {
  await server.stop()
  await webhook.stop()
})

const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  sendRequest(server, path, { method, body, token: server.token, ...(headers && { headers }) })

const RULE = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }
const ALL = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }

async function register(type: 'mutating' | 'validating', name: string, ...webhooks: object[]): Promise<void> {
  const complete = (members: object, i: number) => ({
    name: `h${i}.${name}.example.com`,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { url: `https://127.0.0.1:${webhook.port}/${name}`, caBundle: webhook.caBundle },
    rules: [RULE],
    ...members,
  })
  const response = await send('POST', `${CONFIGURATIONS}/${type}webhookconfigurations`, {
    metadata: { name },
    webhooks: webhooks.map(complete),
  })
  expect(response.status).toBe(201)
}

const create = (name: string, content: object = {}) => send('POST', CONFIGMAPS, { metadata: { name }, ...content })
const patch = (operations: object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})
const operations = () => webhook.reviews.map(({ review: { request } }) => `${request.operation} ${request.name ?? ''}`)

describe('a validating webhook', () => {
  it('refuses with its own Status', async () => {
    await register('validating', 'a', {})
    webhook.answer = () => ({ allowed: false, status: { code: 409, reason: 'Conflict', message: 'taken' } })
    const { status, body } = await create('x')
    expect(status).toBe(409)
    expect(body).toMatchObject({
      reason: 'Conflict',
      message: 'admission webhook "h0.a.example.com" denied the request: taken',
    })
  })

  it('is called for create, update, delete and each object of a collection', async () => {
    await register('validating', 'a', {})
    await create('x')
    await send('PUT', `${CONFIGMAPS}/x`, { metadata: { name: 'x' }, data: { a: '1' } })
    await send('DELETE', `${CONFIGMAPS}/x`)
    expect(operations()).toEqual(['CREATE x', 'UPDATE x', 'DELETE x'])
    await create('y')
    await create('z')
    await send('DELETE', CONFIGMAPS)
    const later = webhook.reviews.slice(5).map(({ review }) => review.request)
    const deleted = later.filter(({ operation }) => operation === 'DELETE')
    // The request names no object.
    expect(deleted.every(({ name }) => name === undefined)).toBe(true)
    expect(deleted).toContainEqual(
      expect.objectContaining({
        oldObject: expect.objectContaining({ metadata: expect.objectContaining({ name: 'y' }) }),
      }),
    )
    expect(deleted).toContainEqual(
      expect.objectContaining({
        oldObject: expect.objectContaining({ metadata: expect.objectContaining({ name: 'z' }) }),
      }),
    )
  })

  it('is called by the name of a service', async () => {
    const service = { namespace: 'default', name: 'hook', path: '/by-service' }
    await register('validating', 'a', { clientConfig: { service, caBundle: webhook.caBundle } })
    expect((await create('x')).status).toBe(201)
    expect(webhook.reviews.map(({ path }) => path)).toEqual(['/by-service?timeout=10s'])
  })

  it('runs side by side with others, without a warning of Node.js', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    await register('validating', 'a', ...Array.from({ length: 12 }, () => ({})))
    let release = (): void => {}
    const all = new Promise<void>(resolve => void (release = resolve))
    webhook.answer = async () => {
      // Each waits until all have been called.
      if (webhook.reviews.length === 12) release()
      await all
      return { allowed: true }
    }
    expect((await create('x')).status).toBe(201)
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  it.each(['v1', 'v1beta1'])('reads reviews in %s', async version => {
    await register('validating', 'a', { admissionReviewVersions: [version] })
    expect((await create('x')).status).toBe(201)
    expect(webhook.reviews[0]!.review.apiVersion).toBe(`admission.k8s.io/${version}`)
  })

  it('sees a Scale, a status, a binding, an eviction, a token request, an access review and a definition', async () => {
    await register('validating', 'a', { rules: [ALL] })
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const path = '/apis/apps/v1/namespaces/default/deployments'
    const spec = { selector: { matchLabels: { a: 'b' } }, template }
    expect((await send('POST', path, { metadata: { name: 'd' }, spec })).status).toBe(201)
    const pod = '/api/v1/namespaces/default/pods/p'
    const podSpec = { ...template.spec, serviceAccountName: 'default' }
    expect((await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 's' } })).status).toBe(
      201,
    )
    webhook.reviews.length = 0
    const merge = { 'content-type': 'application/merge-patch+json' }
    await send('PATCH', `${path}/d/scale`, { spec: { replicas: 3 } }, merge)
    await send('PATCH', `${path}/d/status`, { status: { replicas: 3 } }, merge)
    await send('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: podSpec })
    const bound = await send('POST', `${pod}/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } })
    expect(bound.status).toBe(201)
    await send('POST', `${pod}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } })
    await send('POST', '/api/v1/namespaces/default/serviceaccounts/s/token', { spec: {} })
    await send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
    })
    await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'xs.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'xs', kind: 'X' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    })
    const seen = webhook.reviews.map(({ review: { request } }) => [
      request.operation,
      (request['resource'] as { resource: string }).resource,
      request['subResource'] ?? '',
      request.object?.kind,
    ])
    expect(seen).toContainEqual(['UPDATE', 'deployments', 'scale', 'Scale'])
    expect(seen).toContainEqual(['UPDATE', 'deployments', 'status', 'Deployment'])
    expect(seen).toContainEqual(['CREATE', 'pods', 'binding', 'Binding'])
    expect(seen).toContainEqual(['CREATE', 'pods', 'eviction', 'Eviction'])
    expect(seen).toContainEqual(['CREATE', 'serviceaccounts', 'token', 'TokenRequest'])
    expect(seen).toContainEqual(['CREATE', 'selfsubjectaccessreviews', '', 'SelfSubjectAccessReview'])
    expect(seen).toContainEqual(['CREATE', 'customresourcedefinitions', '', 'CustomResourceDefinition'])
  })

  it('is not called for configurations of admission', async () => {
    await register('validating', 'a', { rules: [ALL] })
    webhook.answer = () => ({ allowed: false })
    expect((await send('DELETE', `${CONFIGURATIONS}/validatingwebhookconfigurations/a`)).status).toBe(200)
  })

  it('answers nonsense: refused, or ignored', async () => {
    await register('validating', 'a', {}, { failurePolicy: 'Ignore' })
    webhook.answer = () => 'no JSON'
    const { status, body } = await create('x')
    expect(status).toBe(500)
    expect(body).toMatchObject({
      message: expect.stringMatching(
        /^Internal error occurred: failed calling webhook "h0.a.example.com": failed to call webhook: couldn't get version\/kind; json parse error: /,
      ),
    })
  })

  it('that takes too long is not waited for', async () => {
    await register('validating', 'a', { timeoutSeconds: 1 })
    let release = (): void => {}
    webhook.answer = () => new Promise(resolve => void (release = () => resolve({ allowed: true })))
    const { status, body } = await create('x')
    release()
    expect(status).toBe(500)
    expect(body).toMatchObject({ message: expect.stringContaining('?timeout=1s": context deadline exceeded') })
  })
})

describe('a mutating webhook', () => {
  it('changes the object, which is decoded and defaulted again', async () => {
    await register('mutating', 'a', { rules: [{ ...RULE, resources: ['services'] }] })
    webhook.answer = () =>
      patch([
        { op: 'add', path: '/spec/ports/-', value: { name: 'b', port: 81 } },
        { op: 'add', path: '/spec/unknown', value: 1 },
      ])
    const { status, body } = await send('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 's' },
      spec: { ports: [{ name: 'a', port: 80 }] },
    })
    expect(status).toBe(201)
    const { spec } = body as { spec: Record<string, unknown> }
    expect(spec['ports']).toEqual([
      { name: 'a', port: 80, protocol: 'TCP', targetPort: 80 },
      { name: 'b', port: 81, protocol: 'TCP', targetPort: 81 },
    ])
    expect(spec).not.toHaveProperty('unknown')
  })

  it('is called again once if a later one changed the object', async () => {
    await register('mutating', 'a', { reinvocationPolicy: 'IfNeeded' })
    await register('mutating', 'b', {})
    webhook.answer = (_, path) =>
      path.startsWith('/b') ? patch([{ op: 'add', path: '/data', value: { b: 'yes' } }]) : { allowed: true }
    const { body } = await create('x')
    expect(body).toMatchObject({ data: { b: 'yes' } })
    expect(webhook.reviews.map(({ path }) => path[1])).toEqual(['a', 'b', 'a'])
  })

  it('without side effects in dry runs is called in one', async () => {
    await register('mutating', 'a', { sideEffects: 'NoneOnDryRun' })
    expect((await send('POST', `${CONFIGMAPS}?dryRun=All`, { metadata: { name: 'x' } })).status).toBe(201)
  })

  it('cannot change what is deleted', async () => {
    await create('x')
    await register('mutating', 'a', {})
    webhook.answer = () => patch([{ op: 'add', path: '/data', value: {} }])
    const { status, body } = await send('DELETE', `${CONFIGMAPS}/x`)
    expect(status).toBe(500)
    expect(body).toMatchObject({
      message: expect.stringContaining('attempted to modify the object, which is not supported for this operation'),
    })
  })

  it('cannot add more than an object may have', async () => {
    await register('mutating', 'a', {})
    webhook.answer = () => patch([{ op: 'add', path: '/metadata/finalizers', value: Array(200_001).fill('') }])
    const { status, body } = await create('x')
    expect(status).toBe(413)
    expect(body).toMatchObject({ message: expect.stringContaining('more than 100000 fields and list items') })
  })

  it('sees and changes another version of the object, if it asked for that', async () => {
    const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
    await register('mutating', 'a', {
      rules: [{ ...RULE, apiGroups: ['autoscaling'], apiVersions: ['v2'], resources: ['horizontalpodautoscalers'] }],
    })
    webhook.answer = () => patch([{ op: 'replace', path: '/spec/maxReplicas', value: 7 }])
    const { status, body } = await send('POST', path, {
      metadata: { name: 'h' },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({ apiVersion: 'autoscaling/v1', spec: { maxReplicas: 7 } })
    expect(webhook.reviews[0]!.review.request).toMatchObject({
      kind: { version: 'v2' },
      requestKind: { version: 'v1' },
      object: { apiVersion: 'autoscaling/v2' },
    })
  })
})

it('calls are counted, and failures and refusals logged', async () => {
  await register('validating', 'a', { failurePolicy: 'Ignore' }, {})
  webhook.answer = () => ''
  await create('x')
  webhook.answer = () => ({ allowed: false, status: { message: 'no' } })
  await create('y')
  const lines = logged.filter(({ fields }) => 'webhook' in fields)
  expect(lines.map(({ level, message, fields }) => `${level} ${String(fields['webhook'])}: ${message}`)).toEqual(
    expect.arrayContaining([
      'warn h0.a.example.com: a webhook failed and is ignored',
      'warn h1.a.example.com: a webhook failed, and the request is refused',
      'info h0.a.example.com: a webhook has refused the request',
    ]),
  )
  const { text } = await send('GET', '/metrics')
  expect(text).toContain('apiserver_admission_webhook_fail_open_count{name="h0.a.example.com",type="validating"} 1')
  expect(text).toMatch(/apiserver_admission_webhook_request_total\{code="503",.*rejected="false",.*\} 1/)
})
