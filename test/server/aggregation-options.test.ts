// API aggregation by a server that creates the certificates for extension servers itself, and passes redirects on.
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLibraryOptions } from '../../src/server/options/library.js'
import { type Server as ApiServer, startServer } from '../../src/server/server.js'
import { FRONT_PROXY_KEY } from '../../src/server/tls/front-proxy.js'
import { type KeyPair, makeCertificate } from '../../src/server/tls/x509.js'
import { makeWebhookCertificates } from '../../src/server/webhook-certificates.js'
import { createMemoryStore } from '../../src/storage/memory/memory-store.js'
import { type Response, type SendOptions, sendRequest } from './request.js'

const SOON = { timeout: 30_000 }
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const store = createMemoryStore()
let server: ApiServer
let token: string
let extension: Server
let extensionCa: string
/** The client certificates that the extension server got. */
const presented: X509Certificate[] = []

const send = (path: string, options: SendOptions = { token }): Promise<Response> =>
  sendRequest({ url: server.url, ca: server.access.ca! }, path, options)

async function published(): Promise<Record<string, string>> {
  const { body } = await send('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication')
  return body?.data ?? {}
}

beforeAll(async () => {
  const { ca, cert, key } = await makeWebhookCertificates(['echo.default.svc'])
  extensionCa = ca
  extension = createServer({ cert, key, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    const { raw } = (request.socket as TLSSocket).getPeerCertificate()
    if (raw) presented.push(new X509Certificate(raw))
    if (request.url?.endsWith('/elsewhere')) return void response.writeHead(302, { location: '/here' }).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  extension.listen(0, '127.0.0.1')
  await once(extension, 'listening')
  const options = readLibraryOptions({ tokens: { 'alice-token': { name: 'alice' } }, log: () => {} })
  token = options.token
  server = await startServer({
    ...options.server,
    storage: { kind: 'memory', store },
    api: { ...options.server.api, forwardsRedirects: true },
  })
})

afterAll(async () => {
  await server?.stop()
  extension?.closeAllConnections()
  extension?.close()
})

test('there are no certificates before the first APIService with a Service', async () => {
  await expect.poll(async () => Object.keys(await published()), SOON).toEqual(['client-ca-file'])
  expect(await store.get(FRONT_PROXY_KEY)).toBeUndefined()
})

test('an extension server is called with a certificate of the published authority', async () => {
  const service = { namespace: 'default', name: 'echo', port: (extension.address() as AddressInfo).port }
  const externalName = { type: 'ExternalName', externalName: 'localhost' }
  const services = '/api/v1/namespaces/default/services'
  await send(services, { token, method: 'POST', body: { metadata: { name: 'echo' }, spec: externalName } })
  const { status } = await send(API_SERVICES, {
    token,
    method: 'POST',
    body: {
      metadata: { name: 'v1.echo.io' },
      spec: {
        group: 'echo.io',
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        caBundle: Buffer.from(extensionCa).toString('base64'),
        service,
      },
    },
  })
  expect(status).toBe(201)
  await expect.poll(published, SOON).toEqual({
    'client-ca-file': expect.any(String),
    'requestheader-client-ca-file': expect.any(String),
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  })
  await expect.poll(() => presented.length, SOON).toBeGreaterThan(0)
  const authority = new X509Certificate((await published())['requestheader-client-ca-file']!)
  expect(authority.subject).toBe('CN=front-proxy-ca')
  for (const certificate of presented) {
    expect(certificate.subject).toBe('CN=front-proxy-client')
    expect(certificate.checkIssued(authority) && certificate.verify(authority.publicKey)).toBe(true)
  }
})

test('no certificate of this authority is accepted by the server itself, for headers or as a user', async () => {
  const authority = JSON.parse((await store.get(FRONT_PROXY_KEY))!.value.toString()) as KeyPair
  const data = await published()
  expect(data['requestheader-client-ca-file']).toBe(authority.cert)
  expect(data['client-ca-file']).not.toContain(authority.cert.trim())

  const validity = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 3_600_000) }
  const client = (name: string, organization = 'system:masters'): Promise<KeyPair> =>
    makeCertificate({ subject: { name, organization }, validity, use: 'client' }, authority)
  const headers = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' }
  for (const name of ['front-proxy-client', 'kubernetes-admin']) {
    const pair = await client(name)
    expect((await send('/api/v1/namespaces', { client: pair })).status).toBe(401)
    expect((await send('/api/v1/namespaces', { client: pair, headers })).status).toBe(401)
  }
  const { status, body } = await send('/api/v1/namespaces', { token: 'alice-token', headers })
  expect(status).toBe(403)
  expect(body.message).toContain('User "alice"')
})

test('redirects are passed on if they are not to be refused', async () => {
  await expect.poll(async () => (await send('/apis/echo.io/v1/elsewhere')).status, SOON).toBe(302)
  expect((await send('/apis/echo.io/v1/elsewhere')).headers.location).toBe('/here')
})
