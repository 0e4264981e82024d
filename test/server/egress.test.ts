// Webhooks, extension servers and the collector of spans are reached through proxies.
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startConnectProxy, type TestProxy } from '../../src/base/connect-proxy.suite.js'
import { dialThrough } from '../../src/base/dial.js'
import { readLibraryOptions } from '../../src/server/options/library.js'
import { type Server as ApiServer, startServer } from '../../src/server/server.js'
import { type OtlpCollector, startOtlpCollector } from '../../src/server/tracing/otlp-collector.suite.js'
import { makeWebhookCertificates } from '../../src/server/webhook-certificates.js'
import { type Response, type SendOptions, sendRequest } from './request.js'

const SOON = { timeout: 30_000 }

let cluster: TestProxy
let controlPlane: TestProxy
let collector: OtlpCollector
let server: ApiServer
let token: string
let remote: Server
let port: number
let caBundle: string

beforeEach(async () => {
  cluster = await startConnectProxy()
  controlPlane = await startConnectProxy()
  collector = await startOtlpCollector()
  const { ca, cert, key } = await makeWebhookCertificates(['localhost', 'remote.default.svc'])
  caBundle = Buffer.from(ca).toString('base64')
  remote = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      if (chunks.length === 0) return void response.end('{}')
      const { uid } = (JSON.parse(Buffer.concat(chunks).toString()) as { request: { uid: string } }).request
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } }
      response.end(JSON.stringify(review))
    })
  })
  await new Promise<void>(resolve => remote.listen(0, '127.0.0.1', resolve))
  port = (remote.address() as AddressInfo).port
  const options = readLibraryOptions({
    webhookHosts: { 'remote.default.svc': `127.0.0.1:${port}` },
    log: () => {},
  })
  token = options.token
  const through = ({ port: at }: TestProxy) => dialThrough({ name: 'a-proxy', at: { host: '127.0.0.1', port: at } })
  server = await startServer({
    ...options.server,
    tracing: { endpoint: collector.endpoint, ratio: 1 },
    egress: { cluster: through(cluster), controlPlane: through(controlPlane) },
  })
})

afterEach(async () => {
  await server.stop()
  remote.closeAllConnections()
  remote.close()
  cluster.close()
  controlPlane.close()
  collector.close()
})

const send = (path: string, options: SendOptions = {}): Promise<Response> =>
  sendRequest({ url: server.url, ca: server.access.ca! }, path, { token, ...options })

async function callWebhook(clientConfig: object): Promise<void> {
  const webhook = {
    name: 'remote.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { ...clientConfig, caBundle },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
  }
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  await send(configurations, { method: 'POST', body: { metadata: { name: 'remote' }, webhooks: [webhook] } })
  const { status, body } = await send('/api/v1/namespaces/default/configmaps', {
    method: 'POST',
    body: { metadata: { name: 'a' } },
  })
  expect({ status, body }).toMatchObject({ status: 201 })
}

test('a webhook at a URL is reached through the proxy of the control plane', async () => {
  await callWebhook({ url: `https://localhost:${port}/` })
  expect({ cluster: cluster.targets, controlPlane: controlPlane.targets }).toEqual({
    cluster: [],
    controlPlane: [`localhost:${port}`],
  })
})

test('a webhook of a Service is reached through the proxy of the cluster', async () => {
  await callWebhook({ service: { namespace: 'default', name: 'remote' } })
  expect({ cluster: cluster.targets, controlPlane: controlPlane.targets }).toEqual({
    cluster: [`127.0.0.1:${port}`],
    controlPlane: [],
  })
})

test('an extension server is reached through the proxy of the cluster', async () => {
  const service = { namespace: 'default', name: 'remote', port }
  await send('/api/v1/namespaces/default/services', {
    method: 'POST',
    body: { metadata: { name: 'remote' }, spec: { type: 'ExternalName', externalName: 'localhost' } },
  })
  const spec = { group: 'echo.io', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10, caBundle, service }
  const body = { metadata: { name: 'v1.echo.io' }, spec }
  await send('/apis/apiregistration.k8s.io/v1/apiservices', { method: 'POST', body })
  await expect.poll(async () => (await send('/apis/echo.io/v1/things')).status, SOON).toBe(200)
  expect(new Set(cluster.targets)).toEqual(new Set([`127.0.0.1:${port}`]))
})

test('spans are sent through the proxy of the control plane', async () => {
  await send('/version')
  await server.stop()
  expect(controlPlane.targets).toEqual([collector.endpoint])
  expect(collector.spans.map(({ name }) => name)).toContain('GET')
})
