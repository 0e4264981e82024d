// A policy, a webhook and a function with the same condition decide alike, and a mutation that changes nothing changes no
// byte: for objects of all kinds that fast-check thinks of.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AdmissionDenial, type AdmissionRequest, type Binnacle, startBinnacle } from '../../src/server/index.js'
import { sendRequest } from '../server/request.js'
import { type AdmissionWebhookServer, startAdmissionWebhook } from './admission-webhook-server.js'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const NAMESPACES = ['by-policy', 'by-webhook', 'by-function', 'unchanged', 'plain']
const RULE = {
  operations: ['CREATE' as const, 'UPDATE' as const, 'DELETE' as const],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
}
const WRITES = { ...RULE, operations: ['CREATE' as const, 'UPDATE' as const] }
const inNamespace = (name: string) => ({
  matchLabels: { 'kubernetes.io/metadata.name': name },
})

let server: Binnacle
let webhook: AdmissionWebhookServer

/** The condition, as the webhook and the function compute it. */
function isAllowed({
  operation,
  object,
  oldObject,
}: Pick<AdmissionRequest, 'operation' | 'object' | 'oldObject'>): boolean {
  if (operation === 'DELETE') return oldObject!['data']?.keep !== 'yes'
  const { data = {}, metadata } = object as { data?: Record<string, string>; metadata: { labels?: object } }
  const values = Object.values(data)
  return (
    values.every(value => Array.from(value).length <= 5) &&
    (data['a'] ?? '') !== 'no' &&
    !('bad' in (metadata.labels ?? {}))
  )
}

/** The same as an expression. */
const EXPRESSION = `request.operation == 'DELETE'
  ? !(has(oldObject.data) && 'keep' in oldObject.data && oldObject.data.keep == 'yes')
  : (!has(object.data) || object.data.all(k, object.data[k].size() <= 5)) &&
    (!has(object.data) || !('a' in object.data) || object.data.a != 'no') &&
    (!has(object.metadata.labels) || !('bad' in object.metadata.labels))`

const send = (method: string, path: string, body?: unknown) =>
  sendRequest(server, path, { method, token: server.token, ...(body !== undefined && { body }) })

beforeAll(async () => {
  webhook = await startAdmissionWebhook()
  webhook.answer = ({ request }, path) =>
    path.startsWith('/same')
      ? {
          allowed: true,
          patchType: 'JSONPatch',
          patch: Buffer.from('[{"op":"test","path":"/kind","value":"ConfigMap"}]').toString('base64'),
        }
      : { allowed: isAllowed(request as unknown as AdmissionRequest) }
  const rules = [RULE]
  server = await startBinnacle({
    log: () => {},
    admission: [
      {
        name: 'f',
        rules,
        namespaceSelector: inNamespace('by-function'),
        validate(request) {
          if (!isAllowed(request)) throw new AdmissionDenial('no')
        },
      },
      {
        name: 'same',
        rules: [WRITES],
        namespaceSelector: inNamespace('unchanged'),
        mutate: ({ object }) => structuredClone(object) ?? undefined,
      },
    ],
  })
  for (const name of NAMESPACES) await send('POST', '/api/v1/namespaces', { metadata: { name } })
  const hook = (name: string) => ({
    name: `${name}.example.com`,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { url: `https://127.0.0.1:${webhook.port}/${name}`, caBundle: webhook.caBundle },
    rules,
  })
  const created = [
    await send('POST', `${GROUP}/validatingwebhookconfigurations`, {
      metadata: { name: 'w' },
      webhooks: [{ ...hook('decide'), namespaceSelector: inNamespace('by-webhook') }],
    }),
    await send('POST', `${GROUP}/mutatingwebhookconfigurations`, {
      metadata: { name: 'm' },
      webhooks: [{ ...hook('same'), rules: [WRITES], namespaceSelector: inNamespace('unchanged') }],
    }),
    await send('POST', `${GROUP}/validatingadmissionpolicies`, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: { resourceRules: rules, namespaceSelector: inNamespace('by-policy') },
        validations: [{ expression: EXPRESSION }],
      },
    }),
    await send('POST', `${GROUP}/validatingadmissionpolicybindings`, {
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    }),
    await send('POST', `${GROUP}/mutatingadmissionpolicies`, {
      metadata: { name: 'n' },
      spec: {
        matchConstraints: {
          resourceRules: [WRITES],
          namespaceSelector: inNamespace('unchanged'),
        },
        reinvocationPolicy: 'IfNeeded',
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
      },
    }),
    await send('POST', `${GROUP}/mutatingadmissionpolicybindings`, {
      metadata: { name: 'n' },
      spec: { policyName: 'n' },
    }),
  ]
  for (const { status, text: why } of created) if (status !== 201) throw new Error(why)
}, 60_000)

afterAll(async () => {
  await server?.stop()
  await webhook?.stop()
})

const text = fc.oneof(fc.constantFrom('no', 'yes', ''), fc.string({ maxLength: 7, unit: 'grapheme' }))
const data = fc.dictionary(fc.constantFrom('a', 'keep', 'b.c', 'd'), text, { maxKeys: 3 })
const labels = fc.dictionary(fc.constantFrom('bad', 'good'), fc.constant('x'), { maxKeys: 2 })
const content = fc.record({ data, labels }, { requiredKeys: [] })

/** Writes an object, changes it and deletes it; whether each was admitted. */
async function life(namespace: string, first: object, second: object): Promise<boolean[]> {
  const all = `/api/v1/namespaces/${namespace}/configmaps`
  const object = ({ labels: own, ...rest }: { labels?: object }) => ({
    metadata: { name: 'x', ...(own && { labels: own }) },
    ...rest,
  })
  const steps = [
    await send('POST', all, object(first)),
    await send('PUT', `${all}/x`, object(second)),
    await send('DELETE', `${all}/x`),
  ]
  // What was kept is made deletable.
  if ((await send('GET', `${all}/x`)).status === 200) {
    await send('PUT', `${all}/x`, object({}))
    expect((await send('DELETE', `${all}/x`)).status).toBe(200)
  }
  return steps.map(({ status }) => status < 300)
}

test('a policy, a webhook and a function with the same condition decide alike', async () => {
  await fc.assert(
    fc.asyncProperty(content, content, async (first, second) => {
      const decisions = [
        await life('by-policy', first, second),
        await life('by-webhook', first, second),
        await life('by-function', first, second),
      ]
      expect(decisions[1]).toEqual(decisions[0])
      expect(decisions[2]).toEqual(decisions[0])
    }),
    { numRuns: 15 },
  )
}, 60_000)

test('mutations that change nothing leave the object as it is, byte by byte', async () => {
  await fc.assert(
    fc.asyncProperty(content, async ({ labels: own = {}, data: values = {} }) => {
      const create = async (namespace: string): Promise<string> => {
        const all = `/api/v1/namespaces/${namespace}/configmaps`
        const created = await send('POST', all, { metadata: { name: 'x', labels: own }, data: values })
        expect(created.status).toBe(201)
        await send('DELETE', `${all}/x`)
        return created.text
          .replaceAll(namespace, '<namespace>')
          .replaceAll(/"(uid|resourceVersion|creationTimestamp|time)":"[^"]*"/g, '"$1":""')
      }
      expect(await create('unchanged')).toBe(await create('plain'))
    }),
    { numRuns: 10 },
  )
}, 60_000)
