// Servers that this server calls, and that hang, answer a byte at a time, without end or half: other requests go on, and what
// waits for them ends in time and holds little memory.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeWebhookCertificates } from '../../src/server/webhook-certificates.js'
import { begin } from '../server/request.js'
import { type HostileServer, startHostileServer } from './hostile-server.js'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const WIDGETS = '/apis/example.com/v2/namespaces/default/widgets'
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
const MIB = Buffer.alloc(2 ** 20, 'x')
const CHUNK = Buffer.concat([Buffer.from(`${MIB.length.toString(16)}\r\n`), MIB, Buffer.from('\r\n')])

/** What the peer does with a request. */
const ANSWERS: Readonly<Record<string, (socket: TLSSocket) => void>> = {
  hangs: () => {},
  'answers a byte at a time': socket => {
    socket.write(HEAD)
    const timer = setInterval(() => socket.write('1\r\n{\r\n'), 200)
    socket.once('close', () => clearInterval(timer))
  },
  'answers without end': socket => {
    socket.write(HEAD)
    const more = () => {
      while (!socket.destroyed && socket.write(CHUNK));
    }
    socket.on('drain', more)
    more()
  },
  'closes half way': socket => socket.end(`${HEAD}64\r\n{"kind"`),
}

let answer = ANSWERS['hangs']!
const sockets = new Set<TLSSocket>()
let folder: string
let peer: Server
let server: HostileServer

function serve(socket: TLSSocket): void {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('latin1')).slice(-10_000)
    if (!text.includes('\r\n\r\n')) return
    text = ''
    answer(socket)
  })
}

beforeAll(async () => {
  const { ca, cert, key } = await makeWebhookCertificates(['127.0.0.1', 'localhost', 'peer.default.svc'])
  peer = createServer({ cert, key, ALPNProtocols: ['http/1.1'] }, serve)
  peer.listen(0, '127.0.0.1')
  await once(peer, 'listening')
  const { port } = peer.address() as AddressInfo
  const url = `https://127.0.0.1:${port}`
  folder = mkdtempSync(join(tmpdir(), 'binnacle-peers-'))
  const cluster = { server: url, 'insecure-skip-tls-verify': true }
  const kubeconfig = {
    clusters: [{ name: 'a', cluster }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: '' } }],
    'current-context': 'a',
  }
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }
  for (const [name, value] of Object.entries({ kubeconfig, policy })) {
    writeFileSync(join(folder, name), JSON.stringify(value))
  }
  const file = join(folder, 'kubeconfig')
  server = await startHostileServer(
    `--authentication-token-webhook-config-file=${file}`,
    '--authorization-mode=RBAC,Webhook',
    `--authorization-webhook-config-file=${file}`,
    `--audit-policy-file=${join(folder, 'policy')}`,
    `--audit-webhook-config-file=${file}`,
  )
  const caBundle = Buffer.from(ca).toString('base64')
  await configure(url, port, caBundle)
})
afterAll(async () => {
  await server?.kill()
  peer?.close()
  for (const socket of sockets) socket.destroy()
  rmSync(folder, { recursive: true })
})

async function create(path: string, body: object): Promise<void> {
  const { status, text } = await server.send('POST', path, JSON.stringify(body))
  expect({ status, text }).toMatchObject({ status: 201 })
}

async function configure(url: string, port: number, caBundle: string): Promise<void> {
  await create('/api/v1/namespaces/default/services', {
    metadata: { name: 'peer' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  await create('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.peer.io' },
    spec: {
      group: 'peer.io',
      version: 'v1',
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      caBundle,
      service: { namespace: 'default', name: 'peer', port },
    },
  })
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: ['v1', 'v2'].map(name => ({
        name,
        served: true,
        storage: name === 'v1',
        schema: { openAPIV3Schema: schema },
      })),
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `${url}/convert`, caBundle } },
      },
    },
  })
  await create('/apis/example.com/v1/namespaces/default/widgets', {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a' },
  })
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }
  await create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'peer' },
    webhooks: [
      {
        name: 'peer.example.com',
        clientConfig: { url: `${url}/admit`, caBundle },
        rules: [rule],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 1,
        failurePolicy: 'Fail',
      },
    ],
  })
}

const LARGE = JSON.stringify({ metadata: { name: 'a' }, data: { a: 'x'.repeat(900_000) } })

/** Requests that need the peer: of unknown tokens, of users without rights, writes, conversions, another group. */
const CALLS: readonly (() => Parameters<HostileServer['send']>)[] = [
  () => ['POST', CONFIG_MAPS, LARGE, { token: `unknown-${Math.random()}` }],
  () => ['GET', `${CONFIG_MAPS}/${Math.random()}`, undefined, { token: 'bob-token' }],
  () => ['POST', CONFIG_MAPS, LARGE],
  () => ['GET', WIDGETS],
  () => ['GET', '/apis/peer.io/v1/things'],
]
const REPEATED = 10
/** An answer may have 4 MiB and four times the size of the request, or 64 MiB if it is discovery. */
const MOST_BYTES = 250 * 2 ** 20

/** The status of the answer; 0 if the connection ends first. */
function startCall([method, path, body, headers]: Parameters<HostileServer['send']>) {
  const { token = 'admin-token' } = headers ?? {}
  const outgoing = begin(server, path, { method, token })
  const status = new Promise<number>(resolve => {
    outgoing.on('error', () => resolve(0))
    outgoing.on('response', answered => {
      answered.resume()
      resolve(answered.statusCode!)
    })
  })
  outgoing.end(body)
  return { status, end: () => outgoing.destroy() }
}

test.each(Object.keys(ANSWERS))('a peer that %s', { timeout: 60_000 }, async name => {
  answer = ANSWERS[name]!
  const before = await server.collect()
  const calls = Array.from({ length: REPEATED }, () => CALLS.map(call => startCall(call()))).flat()
  // Each is answered while those wait.
  for (let i = 0; i < 5; i++) expect((await server.send('GET', '/api/v1/namespaces')).status).toBe(200)
  expect((await server.send('POST', '/api/v1/namespaces/default/events', '{}')).status).toBe(422)
  const first = await Promise.race(calls.filter((_, i) => i % CALLS.length === 2).map(({ status }) => status))
  const during = await server.collect()
  expect(first).toBe(500)
  expect(during.heap - before.heap).toBeLessThan(MOST_BYTES)
  for (const { end } of calls) end()
  await Promise.all(calls.map(({ status }) => status))
  for (const socket of sockets) socket.destroy()
})
