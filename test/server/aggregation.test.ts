// API aggregation: a server of Binnacle as the extension server of another, and a small https server that answers with the
// request that it got.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readLibraryOptions } from '../../src/server/options/library.js'
import { type Server as ApiServer, startServer } from '../../src/server/server.js'
import { type KeyPair, makeCertificate } from '../../src/server/tls/x509.js'
import { makeWebhookCertificates } from '../../src/server/webhook-certificates.js'
import { type ApiFixture, http2Client } from '../http/api-fixture.js'
import { begin, type Response, responseTo, type SendOptions, sendRequest } from './request.js'

const validity = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 3_600_000) }
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const SOON = { timeout: 30_000 }
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'

let front: ApiServer
let extension: ApiServer
let echo: Server
let frontToken: string
let servingPair: KeyPair & { readonly ca: string }
let extensionPort: number
let echoPort: number

function send(path: string, options: SendOptions = {}): Promise<Response> {
  return sendRequest({ url: front.url, ca: front.access.ca! }, path, { token: frontToken, ...options })
}

async function sendOk(method: string, path: string, body?: unknown): Promise<Response> {
  const response = await send(path, { method, ...(body !== undefined && { body }) })
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`)
  return response
}

const apiService = (name: string, spec: object = {}) => {
  const [version, ...group] = name.split('.')
  const trust = { caBundle: Buffer.from(servingPair.ca).toString('base64') }
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name },
    spec: { group: group.join('.'), version, groupPriorityMinimum: 2000, versionPriority: 10, ...trust, ...spec },
  }
}

const backend = (name: string, port: number) => ({ service: { namespace: 'default', name, port } })

const ECHO_V2 = {
  swagger: '2.0',
  info: { title: 'Echo', version: 'v1' },
  paths: { '/apis/echo.io/v1/things': { get: { operationId: 'listThings', responses: { 200: { description: '' } } } } },
  definitions: { Thing: { type: 'object' } },
}

/** The condition Available, without its time. */
async function availabilityOf(name: string): Promise<object | undefined> {
  const { body } = await send(`${API_SERVICES}/${name}`)
  const [condition] = body.status?.conditions ?? []
  if (!condition) return undefined
  const { status, reason, message } = condition
  return { status, reason, message }
}

const PASSED = { status: 'True', reason: 'Passed', message: 'all checks passed' }

async function register(name: string, spec: object): Promise<void> {
  await sendOk('POST', API_SERVICES, apiService(name, spec))
  await vi.waitFor(async () => expect(await availabilityOf(name)).toEqual(PASSED), SOON)
}

beforeAll(async () => {
  const authority = await makeCertificate({ subject: { name: 'proxy-ca' }, validity, use: 'authority' })
  const proxyClient = await makeCertificate({ subject: { name: 'front-proxy' }, validity, use: 'client' }, authority)
  const { ca, cert, key } = await makeWebhookCertificates(['127.0.0.1', 'extension.default.svc', 'echo.default.svc'])
  servingPair = { ca, cert, key }

  const behind = readLibraryOptions({
    controllers: [],
    // Namespaces are those of the server before it.
    disabledAdmissionPlugins: ['NamespaceLifecycle'],
    log: () => {},
  })
  extension = await startServer({
    ...behind.server,
    serving: { https: { address: '127.0.0.1', port: 0, keyPair: { cert, key } } },
    authentication: {
      ...behind.server.authentication,
      requestHeader: {
        ca: authority.cert,
        allowedNames: ['front-proxy'],
        usernameHeaders: ['x-remote-user'],
        uidHeaders: ['x-remote-uid'],
        groupHeaders: ['x-remote-group'],
        extraPrefixes: ['x-remote-extra-'],
      },
    },
  })
  extensionPort = Number(new URL(extension.url).port)

  echo = createServer({ cert, key }, (request, response) => {
    const { method, url, rawHeaders } = request
    if (url?.endsWith('/broken')) {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('a part', () => response.destroy())
      return
    }
    if (url === '/openapi/v2') return void response.end(JSON.stringify(ECHO_V2))
    if (url === '/openapi/v3') return void response.writeHead(404).end()
    if (url?.endsWith('/elsewhere')) return void response.writeHead(302, { location: '/elsewhere' }).end()
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => void (body += text))
    request.on('end', () => {
      if (url?.includes('/admissions?')) return void response.end(refusalOf(body, request.headers['x-remote-user']))
      response.writeHead(url?.endsWith('/teapot') ? 418 : 200, { 'content-type': 'application/json', 'x-own': '1' })
      response.end(JSON.stringify({ method, url, headers: headersOf(rawHeaders), body }))
    })
  })
  echo.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    if (request.url?.endsWith('/teapot')) {
      return void socket.end('HTTP/1.1 418 I am a teapot\r\nContent-Length: 5\r\nConnection: close\r\n\r\nno tea')
    }
    const user = request.headers['x-remote-user']
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\nX-User: ${String(user)}\r\n\r\n`,
    )
    socket.on('data', (bytes: Buffer) => void socket.write(`echo ${bytes.toString()}`))
    socket.on('error', () => {})
  })
  echo.listen(0, '127.0.0.1')
  await once(echo, 'listening')
  echoPort = (echo.address() as AddressInfo).port

  const before = readLibraryOptions({
    tokens: { 'alice-token': { name: 'alice', groups: ['devs'] } },
    log: () => {},
  })
  frontToken = before.token
  front = await startServer({ ...before.server, api: { ...before.server.api, proxyClient } })

  for (const name of ['extension', 'echo']) {
    const spec = { type: 'ExternalName', externalName: 'localhost' }
    await sendOk('POST', '/api/v1/namespaces/default/services', { metadata: { name }, spec })
  }
  const definition = {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              description: 'Something small.',
              type: 'object',
              properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
            },
          },
        },
      ],
    },
  }
  const created = await sendRequest(
    { url: extension.url, ca },
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    { method: 'POST', token: behind.token, body: definition },
  )
  if (created.status !== 201) throw new Error(created.text)
  await register('v1.example.com', backend('extension', extensionPort))
  await register('v1.echo.io', backend('echo', echoPort))
})

afterAll(async () => {
  await front?.stop()
  await extension?.stop()
  echo?.closeAllConnections()
  echo?.close()
})

/** The answer of an admission webhook, with the user that called it. */
function refusalOf(body: string, user: unknown): string {
  const { apiVersion, kind, request } = JSON.parse(body) as Record<string, { uid: string }>
  const message = `called by ${String(user)}`
  return JSON.stringify({ apiVersion, kind, response: { uid: request?.uid, allowed: false, status: { message } } })
}

const headersOf = (raw: readonly string[]): Record<string, string[]> => {
  const headers = Object.create(null) as Record<string, string[]>
  for (let i = 0; i + 1 < raw.length; i += 2) (headers[raw[i]!.toLowerCase()] ??= []).push(raw[i + 1]!)
  return headers
}

describe('a resource of an extension server', () => {
  test('is created, read, changed and deleted', async () => {
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { size: 1 } }
    const { body: created } = await sendOk('POST', WIDGETS, widget)
    expect(created).toMatchObject({ metadata: { name: 'a', namespace: 'default' }, spec: { size: 1 } })
    const patched = await send(`${WIDGETS}/a`, {
      method: 'PATCH',
      body: { spec: { size: 2 } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    expect(patched.body.spec).toEqual({ size: 2 })
    expect((await send(WIDGETS)).body.items).toHaveLength(1)
    expect((await send(`${WIDGETS}/a`, { method: 'DELETE' })).status).toBe(200)
    expect((await send(`${WIDGETS}/a`)).body).toMatchObject({ reason: 'NotFound' })
  })

  test('is not served to users without the right, who never reach the extension server', async () => {
    const { status, body } = await send(WIDGETS, { token: 'alice-token' })
    expect([status, body.message]).toEqual([
      403,
      'widgets.example.com is forbidden: User "alice" cannot list resource "widgets" in API group "example.com" in the namespace "default"',
    ])
  })

  test('is deleted with its namespace', async () => {
    await sendOk('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
    const inTeam = WIDGETS.replace('default', 'team')
    await sendOk('POST', inTeam, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } })
    await sendOk('DELETE', '/api/v1/namespaces/team')
    await expect.poll(async () => (await send('/api/v1/namespaces/team')).status, SOON).toBe(404)
    expect((await send(inTeam)).body.items).toEqual([])
  })

  test('is watched event by event', async () => {
    const outgoing = begin({ url: front.url, ca: front.access.ca! }, `${WIDGETS}?watch=true`, { token: frontToken })
    outgoing.end()
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    await sendOk('POST', WIDGETS, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'watched' } })
    const [event] = (await once(response, 'data')) as [Buffer]
    expect(JSON.parse(event.toString())).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'watched' } } })
    response.destroy()
    await sendOk('DELETE', `${WIDGETS}/watched`)
  })
})

describe('a request that is passed on', () => {
  test('names the user in headers and has no credentials of the client', async () => {
    const { body } = await send('/apis/echo.io/v1/things?b=2&a=1', {
      headers: {
        'x-remote-user': 'mallory',
        'x-remote-extra-key': 'value',
        'x-forwarded-for': '1.2.3.4',
        connection: 'x-mine, keep-alive',
        'x-mine': 'yes',
        'x-kept': 'yes',
        constructor: 'yes',
      },
    })
    expect(body).toMatchObject({ method: 'GET', url: '/apis/echo.io/v1/things?b=2&a=1' })
    expect(body.headers).toMatchObject({
      host: [`localhost:${echoPort}`],
      'x-remote-user': ['kubernetes-admin'],
      'x-remote-group': ['system:masters', 'system:authenticated'],
      'x-forwarded-for': ['1.2.3.4, 127.0.0.1'],
      'x-forwarded-host': [`localhost:${echoPort}`],
      'x-forwarded-proto': ['https'],
      'x-forwarded-uri': ['/apis/echo.io/v1/things'],
      'x-kept': ['yes'],
      constructor: ['yes'],
    })
    for (const name of ['authorization', 'x-remote-extra-key', 'x-mine']) expect(body.headers).not.toHaveProperty(name)
  })

  test('is that of the impersonated user', async () => {
    const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters', 'impersonate-extra-a%2fb': 'x' }
    const { body } = await send('/apis/echo.io/v1/things', { headers })
    expect(body.headers).toMatchObject({
      'x-remote-user': ['bob'],
      'x-remote-group': ['system:masters', 'system:authenticated'],
      'x-remote-extra-a%2fb': ['x'],
    })
    expect(body.headers).not.toHaveProperty('impersonate-user')
  })

  test('has its body and the status and headers of its response, over HTTP/2 too', async () => {
    const client = await http2Client({ url: front.url, ca: front.access.ca! } as ApiFixture)
    try {
      const response = await client.send({
        method: 'POST',
        path: '/apis/echo.io/v1/teapot',
        headers: { authorization: `Bearer ${frontToken}` },
        body: { text: 'x'.repeat(300_000) },
      })
      expect(response.status).toBe(418)
      expect(response.headers['x-own']).toBe('1')
      expect(JSON.parse(response.json().body)).toEqual({ text: 'x'.repeat(300_000) })
    } finally {
      client.close()
    }
  })

  test('whose response breaks off is not answered whole', async () => {
    await expect(send('/apis/echo.io/v1/broken')).rejects.toThrow('aborted')
  })

  test('is not sent elsewhere', async () => {
    const { status, text } = await send('/apis/echo.io/v1/elsewhere')
    expect([status, text]).toEqual([502, 'the backend attempted to redirect this request, which is not permitted'])
  })

  test.each(['websocket', 'SPDY/3.1'])('may change to %s', async upgrade => {
    const outgoing = begin({ url: front.url, ca: front.access.ca! }, '/apis/echo.io/v1/things', {
      token: frontToken,
      method: upgrade === 'websocket' ? 'GET' : 'POST',
      headers: { connection: 'Upgrade', upgrade },
    })
    outgoing.end()
    const [response, socket] = (await once(outgoing, 'upgrade')) as [IncomingMessage, Duplex]
    expect(response.headers).toMatchObject({ upgrade, 'x-user': 'kubernetes-admin' })
    socket.write('hello')
    expect(String((await once(socket, 'data'))[0])).toBe('echo hello')
    socket.destroy()
  })

  test('may be that of a webhook, which the server calls through itself', async () => {
    const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
    const service = { namespace: 'default', name: 'kubernetes', path: '/apis/echo.io/v1/admissions' }
    await sendOk('POST', configurations, {
      metadata: { name: 'own' },
      webhooks: [
        {
          name: 'own.echo.io',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        },
      ],
    })
    const create = { method: 'POST', body: { metadata: { name: 'a' } } }
    await expect
      .poll(async () => (await send('/api/v1/namespaces/default/configmaps?dryRun=All', create)).body.message, SOON)
      .toBe('admission webhook "own.echo.io" denied the request: called by system:apiserver')
    await sendOk('DELETE', `${configurations}/own`)
  })

  test('may be refused another protocol', async () => {
    const outgoing = begin({ url: front.url, ca: front.access.ca! }, '/apis/echo.io/v1/teapot', {
      token: frontToken,
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    })
    outgoing.end()
    expect((await responseTo(outgoing)).status).toBe(418)
  })
})

test('no certificates are published where flags name the one of this server', async () => {
  const { body } = await send('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication')
  expect(Object.keys(body.data)).toEqual(['client-ca-file'])
})

describe('discovery', () => {
  test('lists the groups of extension servers by their priorities', async () => {
    const { body } = await send('/apis')
    const names: string[] = body.groups.map(({ name }: { name: string }) => name)
    expect(names.slice(-2)).toEqual(['echo.io', 'example.com'])
    expect((await send('/apis/example.com')).body).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'example.com',
      versions: [{ groupVersion: 'example.com/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'example.com/v1', version: 'v1' },
    })
    expect((await send('/apis/example.com/v1')).body.resources[0]).toMatchObject({ name: 'widgets', kind: 'Widget' })
  })

  test('has their resources in the document about all groups', async () => {
    const group = async (name: string) =>
      (await send('/apis', { headers: { accept: AGGREGATED } })).body.items.find(
        (item: { metadata: { name: string } }) => item.metadata.name === name,
      )
    const responseKind = { group: 'example.com', version: 'v1', kind: 'Widget' }
    await expect
      .poll(() => group('example.com'), SOON)
      .toEqual({
        metadata: { name: 'example.com' },
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'widgets',
                responseKind,
                scope: 'Namespaced',
                singularResource: 'widget',
                verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
                shortNames: ['wd'],
                subresources: [{ subresource: 'status', responseKind, verbs: ['get', 'patch', 'update'] }],
              },
            ],
            freshness: 'Current',
          },
        ],
      })
  })
})

describe('OpenAPI', () => {
  test('has the documents of extension servers in its index, and passes requests for them on', async () => {
    const addresses = async () => (await send('/openapi/v3')).text
    await expect.poll(addresses, SOON).toContain('"apis/example.com/v1"')
    const { serverRelativeURL } = JSON.parse(await addresses()).paths['apis/example.com/v1']
    const { status, body } = await send(serverRelativeURL)
    expect(status).toBe(200)
    expect(Object.keys(body.paths)).toContain('/apis/example.com/v1/namespaces/{namespace}/widgets')
    expect(body.components.schemas['com.example.v1.Widget'].description).toBe('Something small.')
  })

  test('has the documents of those that publish version 2 only, converted', async () => {
    const addresses = async () => (await send('/openapi/v3')).text
    await expect.poll(addresses, SOON).toContain('"apis/echo.io/v1"')
    const { serverRelativeURL } = JSON.parse(await addresses()).paths['apis/echo.io/v1']
    const { status, body } = await send(serverRelativeURL)
    expect([status, body]).toEqual([
      200,
      {
        openapi: '3.0.0',
        info: ECHO_V2.info,
        paths: { '/apis/echo.io/v1/things': { get: { operationId: 'listThings', responses: { 200: {} } } } },
        components: { schemas: { Thing: { type: 'object' } } },
      },
    ])
    expect((await send('/openapi/v3/apis/other.io/v1')).status).toBe(404)
  })

  test('joins their definitions and paths in version 2', async () => {
    const { body } = await send('/openapi/v2')
    const { get } = body.paths['/apis/example.com/v1/namespaces/{namespace}/widgets']
    expect(get.responses['200'].schema).toEqual({ $ref: '#/definitions/com.example.v1.WidgetList' })
    expect(body.definitions['com.example.v1.Widget'].properties.metadata.$ref).toBe(
      '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    )
    expect(Object.keys(body.definitions).filter(name => name.endsWith('_v2'))).toEqual([])
    expect(Object.keys(body.paths).filter(path => path.startsWith('/apis/apps/v1/'))).not.toEqual([])
  })
})

describe('an APIService that cannot be reached', () => {
  /** Requests to it, and what they are answered after it is deleted. */
  async function requestsTo(name: string): Promise<unknown[]> {
    const path = `/apis/${name.slice('v1.'.length)}/v1/things`
    const { status, text } = await send(path)
    await sendOk('DELETE', `${API_SERVICES}/${name}`)
    await expect.poll(async () => (await send(path)).status, SOON).toBe(404)
    return [status, text]
  }
  const REFUSED = [503, 'service unavailable\n']

  test('has no Service', async () => {
    await sendOk('POST', API_SERVICES, apiService('v1.none.io', { service: { namespace: 'default', name: 'none' } }))
    await expect
      .poll(() => availabilityOf('v1.none.io'), SOON)
      .toEqual({ status: 'False', reason: 'ServiceNotFound', message: 'service/none in "default" is not present' })
    expect(await requestsTo('v1.none.io')).toEqual(REFUSED)
  })

  test('has a Service without the port, without endpoints, or without ready ones', async () => {
    const services = '/api/v1/namespaces/default/services'
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
    const spec = { ports: [{ name: 'https', port: 443 }] }
    await sendOk('POST', services, { metadata: { name: 'inside' }, spec })
    const service = { namespace: 'default', name: 'inside' }
    await sendOk('POST', API_SERVICES, apiService('v1.inside.io', { service: { ...service, port: 444 } }))
    await sendOk('POST', API_SERVICES, apiService('v1.empty.io', { service }))
    await expect
      .poll(() => availabilityOf('v1.inside.io'), SOON)
      .toEqual({
        status: 'False',
        reason: 'ServicePortError',
        message: 'service/inside in "default" is not listening on port 444',
      })
    expect(await requestsTo('v1.inside.io')).toEqual(REFUSED)
    await expect
      .poll(() => availabilityOf('v1.empty.io'), SOON)
      .toEqual({
        status: 'False',
        reason: 'EndpointsNotFound',
        message: 'cannot find endpointslices for service/inside in "default"',
      })
    const endpoints = [{ addresses: ['10.1.2.3'], conditions: { ready: false } }]
    const labels = { 'kubernetes.io/service-name': 'inside' }
    const ports = [{ name: 'https', port: 443 }]
    await sendOk('POST', slices, { metadata: { name: 'inside', labels }, addressType: 'IPv4', endpoints, ports })
    await expect
      .poll(() => availabilityOf('v1.empty.io'), SOON)
      .toEqual({
        status: 'False',
        reason: 'MissingEndpoints',
        message: 'endpointslices for service/inside in "default" have no addresses with port name "https"',
      })
    expect(await requestsTo('v1.empty.io')).toEqual(REFUSED)
  })

  test('does not answer discovery, and is stale in it', async () => {
    const service = { namespace: 'default', name: 'echo', port: 1 }
    await sendOk('POST', API_SERVICES, apiService('v1.down.io', { service }))
    await expect.poll(() => availabilityOf('v1.down.io'), SOON).toBeDefined()
    const { body } = await send('/apis', { headers: { accept: AGGREGATED } })
    expect(body.items).toContainEqual({
      metadata: { name: 'down.io' },
      versions: [{ version: 'v1', freshness: 'Stale' }],
    })
    const metrics = (await send('/metrics')).text
    expect(metrics).toContain('aggregator_unavailable_apiservice{name="v1.down.io"} 1')
    expect(metrics).toContain('aggregator_unavailable_apiservice{name="v1.echo.io"} 0')
    const url = 'https://localhost:1/apis/down.io/v1'
    await expect
      .poll(() => availabilityOf('v1.down.io'), SOON)
      .toEqual({
        status: 'False',
        reason: 'FailedDiscoveryCheck',
        message: `failing or missing response from ${url}: Get "${url}": dial tcp 127.0.0.1:1: connect: connection refused`,
      })
    expect(await requestsTo('v1.down.io')).toEqual(REFUSED)
  })
})
