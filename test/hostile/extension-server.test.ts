// An extension server whose answers are wrong, byte by byte, and clients whose requests would be others there.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readLibraryOptions } from '../../src/server/options/library.js'
import { type Server as ApiServer, startServer } from '../../src/server/server.js'
import { makeWebhookCertificates } from '../../src/server/webhook-certificates.js'
import { type ApiFixture, http2Client } from '../http/api-fixture.js'
import { type Response, sendRequest } from '../server/request.js'

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
const GROUP = '/apis/hostile.io/v1'

/** What is answered, by the last segment of the path. */
const ANSWERS: Readonly<Record<string, string>> = {
  'status-0': 'HTTP/1.1 000 Odd\r\nContent-Length: 2\r\n\r\n{}',
  'status-99': 'HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\n{}',
  'status-101': 'HTTP/1.1 101 Switching Protocols\r\nContent-Length: 2\r\n\r\n{}',
  'status-103': `HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n${OK}`,
  'status-204': 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n',
  'status-999': 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}',
  'odd-value': 'HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 2\r\n\r\n{}',
  bytes: 'HTTP/1.1 200 OK\r\nX-A: \xc3\xa4\xff\r\nContent-Length: 2\r\n\r\n{}',
  'other-protocol':
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: spdy/3.1\r\nX-A: \xc3\xa4\xff\r\n\r\n',
  'odd-name': 'HTTP/1.1 200 OK\r\n:status: 300\r\nContent-Length: 2\r\n\r\n{}',
  'two-lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 20\r\n\r\n{}',
  'length-and-chunks': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'large-header': `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\n{}`,
  'no-http': 'SSH-2.0-OpenSSH_9.2p1\r\n\r\n',
  'two-answers': `${OK}HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno`,
}

let front: ApiServer
let token: string
let extension: Server
/** The heads of the requests that the extension server got. */
const heads: string[] = []
const sockets = new Set<TLSSocket>()

function serve(socket: TLSSocket): void {
  let text = ''
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
      const head = text.slice(0, end)
      text = text.slice(end + 4)
      heads.push(head)
      const name = head.split(' ')[1]!.split('/').at(-1)!
      socket.write(Object.hasOwn(ANSWERS, name) ? ANSWERS[name]! : OK, 'latin1')
    }
  })
}

const send = (path: string, body?: unknown): Promise<Response> =>
  sendRequest({ url: front.url, ca: front.access.ca! }, path, {
    token,
    ...(body !== undefined && { method: 'POST', body }),
  })

beforeAll(async () => {
  const { ca, cert, key } = await makeWebhookCertificates(['127.0.0.1', 'hostile.default.svc'])
  extension = createServer({ cert, key }, serve)
  extension.listen(0, '127.0.0.1')
  await once(extension, 'listening')
  const { port } = extension.address() as AddressInfo
  const options = readLibraryOptions({ log: () => {} })
  token = options.token
  front = await startServer(options.server)
  await send('/api/v1/namespaces/default/services', {
    metadata: { name: 'hostile' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  await send('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.hostile.io' },
    spec: {
      group: 'hostile.io',
      version: 'v1',
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      caBundle: Buffer.from(ca).toString('base64'),
      service: { namespace: 'default', name: 'hostile', port },
    },
  })
  await vi.waitUntil(async () => (await send(`${GROUP}/things`)).status === 200, { timeout: 30_000 })
})

afterAll(async () => {
  await front?.stop()
  extension?.close()
})

/** The same over HTTP/2, where the client checks what it gets. */
async function send2(path: string): Promise<Pick<Response, 'status' | 'headers'>> {
  const client = await http2Client({ url: front.url, ca: front.access.ca! } as ApiFixture)
  try {
    return await client.send({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } })
  } finally {
    client.close()
  }
}

/** A connection of HTTP/1.1, for requests that are written byte by byte. */
async function connectPlainly(): Promise<TLSSocket> {
  const { hostname, port } = new URL(front.url)
  const client = connect({ host: hostname, port: Number(port), ca: front.access.ca!, ALPNProtocols: ['http/1.1'] })
  await once(client, 'secureConnect')
  return client
}

test.each([
  ['status-0', 503],
  ['status-99', 503],
  ['status-101', 503],
  ['status-103', 200],
  ['status-204', 204],
  ['status-999', 999],
  ['odd-value', 503],
  ['odd-name', 503],
  ['two-lengths', 503],
  ['length-and-chunks', 503],
  ['large-header', 503],
  ['no-http', 503],
  ['two-answers', 200],
])('an answer that is wrong: %s', async (name, status) => {
  const path = `${GROUP}/${name}`
  expect([(await send(path)).status, (await send2(path)).status]).toEqual([status, status])
  expect((await send(`${GROUP}/things`)).status).toBe(200)
})

test('names that a client invents are no labels of metrics', async () => {
  expect((await send(`${GROUP}/invented`)).status).toBe(200)
  expect((await send('/metrics')).text).not.toContain('resource="invented"')
})

test('the values of headers are passed on byte by byte', async () => {
  const path = `${GROUP}/bytes`
  const values = [(await send(path)).headers['x-a'], (await send2(path)).headers['x-a']]
  expect(values).toEqual(['\xc3\xa4\xff', '\xc3\xa4\xff'])
  const client = await connectPlainly()
  const head = `GET ${GROUP}/other-protocol HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n`
  client.write(`${head}Connection: Upgrade\r\nUpgrade: spdy/3.1\r\n\r\n`)
  const [answer] = (await once(client, 'data')) as [Buffer]
  expect(answer.toString('latin1')).toContain('X-A: \xc3\xa4\xff\r\n')
  client.destroy()
})

test('a request whose body is still to come is not sent again without it', async () => {
  const client = await connectPlainly()
  const head = `POST ${GROUP}/things HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: 5\r\n\r\n`
  client.write(head)
  // When this one is answered, the other one has a connection that was kept.
  await send('/version')
  const answered = once(client, 'data')
  for (const socket of sockets) socket.destroy()
  expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 503 /)
  expect(heads.filter(each => each.startsWith('POST'))).toEqual([])
  client.destroy()
})
