// Spans that a collector gets, and traces that are passed on to webhooks.
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readLibraryOptions } from '../../src/server/options/library.js'
import { type Server as ApiServer, startServer } from '../../src/server/server.js'
import {
  type CollectedSpan,
  type OtlpCollector,
  startOtlpCollector,
} from '../../src/server/tracing/otlp-collector.suite.js'
import { makeWebhookCertificates } from '../../src/server/webhook-certificates.js'
import { sendRequest } from './request.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const REMOTE = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, tracestate: 'vendor=1' }
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

let collector: OtlpCollector
let server: ApiServer
let token: string
let webhook: Server | undefined

beforeEach(async () => {
  collector = await startOtlpCollector()
})

afterEach(async () => {
  await server.stop()
  webhook?.closeAllConnections()
  webhook?.close()
  collector.close()
})

async function start(ratio = 0): Promise<void> {
  const options = readLibraryOptions({ tokens: { 'alice-token': { name: 'alice' } }, log: () => {} })
  token = options.token
  server = await startServer({ ...options.server, tracing: { endpoint: collector.endpoint, ratio } })
}

const send = (path: string, options: Parameters<typeof sendRequest>[2] = {}) =>
  sendRequest({ url: server.url, ca: server.access.ca! }, path, { token, headers: REMOTE, ...options })

/** A server that stops sends the spans that it has. */
async function collected(): Promise<CollectedSpan[]> {
  await server.stop()
  return collector.spans
}

test('the trace of an administrator is continued, with spans of the verb and of storage', async () => {
  await start()
  await send(CONFIG_MAPS, { method: 'POST', body: { metadata: { name: 'a' } } })
  const spans = await collected()
  const byName = (name: string) => spans.find(span => span.name === name)!
  const root = byName('POST /api/v1/namespaces/{:namespace}/configmaps')
  expect(root).toMatchObject({
    kind: 2,
    traceId: TRACE,
    parentSpanId: 'b7ad6b7169203331',
    flags: 0x301,
    resource: { 'service.name': 'apiserver', 'service.instance.id': expect.stringMatching(/^apiserver-/) },
    attributes: {
      'http.request.method': 'POST',
      'url.path': CONFIG_MAPS,
      'url.scheme': 'https',
      'client.address': '127.0.0.1',
      'http.response.status_code': 201,
      'http.request.body.size': 25,
      'audit-id': expect.any(String),
    },
  })
  const create = byName('Create')
  expect(create).toMatchObject({
    kind: 1,
    parentSpanId: root.spanId,
    flags: 0x101,
    events: ['limitedReadBody succeeded'],
    attributes: { verb: 'POST', resource: 'configmaps', namespace: 'default', scope: 'resource', client: '127.0.0.1' },
  })
  expect(byName('Create etcd3')).toMatchObject({
    traceId: TRACE,
    parentSpanId: create.spanId,
    attributes: {
      'audit-id': root.attributes['audit-id'],
      key: '/configmaps/default/a',
      group: '',
      resource: 'configmaps',
    },
  })
  expect(root.milliseconds).toBeGreaterThanOrEqual(create.milliseconds)
})

test('requests without a trace, and those of users who may not decide what is recorded, have none', async () => {
  await start()
  await send(CONFIG_MAPS, { headers: {} })
  await send('/version', { token: 'alice-token' })
  await send('/version', { token: undefined })
  await send('/version', { headers: { traceparent: `00-${TRACE}-b7ad6b7169203331-00` } })
  expect(await collected()).toEqual([])
})

test('a part of the requests begins a trace, which is linked to that of the client', async () => {
  await start(1)
  await send('/version', { token: 'alice-token' })
  const span = (await collected()).find(({ attributes }) => attributes['url.path'] === '/version')
  expect(span).toMatchObject({ name: 'GET', parentSpanId: '', links: [TRACE], flags: 0x101 })
  expect(span!.traceId).not.toBe(TRACE)
})

/** A webhook for ConfigMaps; the headers of traces that it gets. */
async function startWebhook(): Promise<(string | undefined)[]> {
  const { ca, cert, key } = await makeWebhookCertificates(['localhost'])
  const seen: (string | undefined)[] = []
  webhook = createServer({ cert, key }, (request, response) => {
    for (const name of ['traceparent', 'tracestate', 'baggage']) seen.push(request.headers[name] as string | undefined)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { uid } = (JSON.parse(Buffer.concat(chunks).toString()) as { request: { uid: string } }).request
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(review))
    })
  })
  await new Promise<void>(resolve => webhook!.listen(0, '127.0.0.1', resolve))
  const { port } = webhook.address() as AddressInfo
  const { status } = await send('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    method: 'POST',
    headers: {},
    body: {
      metadata: { name: 'traced' },
      webhooks: [
        {
          name: 'traced.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { url: `https://localhost:${port}/`, caBundle: Buffer.from(ca).toString('base64') },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        },
      ],
    },
  })
  expect(status).toBe(201)
  return seen
}

test('a webhook gets the trace, and its call has a span', async () => {
  await start()
  const seen = await startWebhook()
  await send(CONFIG_MAPS, { method: 'POST', body: { metadata: { name: 'a' } } })
  const spans = await collected()
  const call = spans.find(({ name }) => name === 'Call validating webhook')!
  expect(call.attributes).toMatchObject({
    configuration: 'traced',
    webhook: 'traced.example.com',
    resource: '/v1, Resource=configmaps',
    operation: 'CREATE',
  })
  const http = spans.find(({ name }) => name === 'HTTP POST')!
  expect(http).toMatchObject({ kind: 3, parentSpanId: call.spanId, attributes: { 'http.response.status_code': 200 } })
  expect(seen).toEqual([`00-${TRACE}-${http.spanId}-01`, 'vendor=1', undefined])
})

test('a server that records nothing passes the trace on as it came', async () => {
  const options = readLibraryOptions({ log: () => {} })
  token = options.token
  server = await startServer(options.server)
  const seen = await startWebhook()
  const headers = { ...REMOTE, baggage: 'a=b' }
  await send(CONFIG_MAPS, { method: 'POST', body: { metadata: { name: 'a' } }, headers })
  await send(CONFIG_MAPS, { method: 'POST', body: { metadata: { name: 'b' } }, headers: { traceparent: 'x' } })
  expect(seen).toEqual([REMOTE.traceparent, 'vendor=1', 'a=b', undefined, undefined, undefined])
})
