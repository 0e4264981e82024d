// Connections that do not send, do not read or do not end: other clients are served, memory is bounded, a stop is not held up.
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { begin } from '../server/request.js'
import { type HostileServer, startHostileServer } from './hostile-server.js'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

let server: HostileServer
beforeEach(async () => {
  server = await startHostileServer('--max-mutating-requests-inflight=10')
})
afterEach(() => server?.stop())

const address = () => {
  const { hostname, port } = new URL(server.url)
  return { host: hostname, port: Number(port) }
}

/** The header of a create and the beginning of its body. */
async function beginBody(token: string): Promise<{ status: Promise<number>; end(): void }> {
  const outgoing = begin(server, CONFIG_MAPS, { method: 'POST', token, headers: { 'content-length': '100' } })
  outgoing.on('error', () => {})
  const status = once(outgoing, 'response').then(
    ([{ statusCode }]) => statusCode as number,
    () => 0,
  )
  outgoing.write('{')
  await once(outgoing, 'socket')
  return { status, end: () => void outgoing.destroy() }
}

test('bodies that do not arrive keep nobody from writing', async () => {
  const unfinished = await Promise.all(Array.from({ length: 30 }, () => beginBody('admin-token')))
  const { status } = await server.send('POST', CONFIG_MAPS, '{"metadata":{"name":"a"}}')
  expect(status).toBe(201)
  for (const { end } of unfinished) end()
})

test('a user without rights is refused before the body is read', async () => {
  const refused = await Promise.all(Array.from({ length: 20 }, () => beginBody('bob-token')))
  expect(await Promise.all(refused.map(({ status }) => status))).toEqual(refused.map(() => 403))
})

test('a stop does not wait for handshakes, half a header or half a body', async () => {
  const silent = connectTcp(address())
  const handshaken = connectTls({ ...address(), ca: server.ca, ALPNProtocols: ['http/1.1'] })
  for (const socket of [silent, handshaken]) socket.on('error', () => {})
  await Promise.all([once(silent, 'connect'), once(handshaken, 'secureConnect')])
  handshaken.write('GET /healthz HTTP/1.1\r\nHost: ')
  const body = await beginBody('admin-token')
  const began = performance.now()
  await server.stop()
  expect(performance.now() - began).toBeLessThan(8_000)
  body.end()
})

test('lists that are not read keep no seats from other users', { timeout: 60_000 }, async () => {
  const small = await startHostileServer('--max-requests-inflight=4', '--max-mutating-requests-inflight=4')
  try {
    for (const name of ['alice', 'bob']) {
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
      const subjects = [{ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' }]
      const binding = { metadata: { name }, roleRef, subjects }
      const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
      await small.send('POST', path, JSON.stringify(binding))
    }
    const data = 'x'.repeat(500_000)
    await small.send('POST', CONFIG_MAPS, JSON.stringify({ metadata: { name: 'large' }, data: { data } }))
    const session = connectHttp2(small.url, { ca: small.ca, settings: { initialWindowSize: 0 } })
    session.on('error', () => {})
    const headers = { ':path': CONFIG_MAPS, authorization: 'Bearer alice-token' }
    const lists = Array.from({ length: 60 }, () => session.request(headers).on('error', () => {}))
    await Promise.race(lists.map(list => once(list, 'response')))
    const { status } = await small.send('GET', `${CONFIG_MAPS}/large`, undefined, { token: 'bob-token' })
    expect(status).toBe(200)
    session.destroy()
  } finally {
    await small.kill()
  }
})

test('lists that are not read hold little memory', { timeout: 60_000 }, async () => {
  const data = 'x'.repeat(500_000)
  for (let i = 0; i < 20; i++) {
    await server.send('POST', CONFIG_MAPS, JSON.stringify({ metadata: { name: `large-${i}` }, data: { data } }))
  }
  const before = await server.collect()
  const session = connectHttp2(server.url, { ca: server.ca, settings: { initialWindowSize: 0 } })
  session.on('error', () => {})
  const streams = Array.from({ length: 100 }, () =>
    session.request({ ':path': CONFIG_MAPS, authorization: 'Bearer admin-token' }).on('error', () => {}),
  )
  await Promise.all(streams.map(stream => once(stream, 'response')))
  await server.send('GET', '/healthz')
  const during = await server.collect()
  // Without a bound, 100 lists of 10 MB.
  expect(during.heap - before.heap).toBeLessThan(250 * 2 ** 20)
  session.destroy()
})
