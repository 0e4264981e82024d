// The server embedded in a program.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { decodeYaml } from '../../src/codec/yaml/decode.js'
import { type Binnacle, type BinnacleOptions, startBinnacle } from '../../src/server/index.js'
import { beginWatch, sendRequest } from './request.js'

const NAMESPACES = '/api/v1/namespaces'
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

let running: Binnacle[] = []
afterEach(async () => {
  await Promise.all(running.map(server => server.stop()))
  running = []
})

async function start(options?: BinnacleOptions): Promise<Binnacle> {
  const server = await startBinnacle(options)
  running.push(server)
  return server
}

test('several run in one process, with separate objects and tokens', async () => {
  const servers = await Promise.all(Array.from({ length: 10 }, () => start()))
  expect(new Set(servers.map(({ url }) => url)).size).toBe(10)
  await Promise.all(
    servers.map(async (server, i) => {
      const { token } = server
      const { status } = await sendRequest(server, NAMESPACES, { method: 'POST', token, body: namespace(`only-${i}`) })
      expect(status).toBe(201)
    }),
  )
  const seen = await Promise.all(servers.map(server => sendRequest(server, NAMESPACES, { token: server.token })))
  for (const [i, { body }] of seen.entries()) {
    const names: string[] = body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
    expect(names.filter(name => name.startsWith('only-'))).toEqual([`only-${i}`])
  }
  expect((await sendRequest(servers[0]!, NAMESPACES, { token: servers[1]!.token })).status).toBe(401)
})

test('the administrator is authenticated by token, certificate and kubeconfig; other credentials are refused', async () => {
  const server = await start()
  const { token, client, ca } = server
  expect((await sendRequest(server, NAMESPACES, { token })).status).toBe(200)
  expect((await sendRequest(server, NAMESPACES, { client })).status).toBe(200)
  expect((await sendRequest(server, NAMESPACES)).status).toBe(403)
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  expect(decodeYaml(Buffer.from(server.kubeconfig)).value).toMatchObject({
    'current-context': 'binnacle',
    clusters: [{ cluster: { server: server.url, 'certificate-authority-data': base64(ca) } }],
    users: [{ user: { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) } }],
  })
})

test('other users are authenticated by their tokens, and authorized by roles', async () => {
  const server = await start({ tokens: { 'alice-token': { name: 'alice', groups: ['devs'] } } })
  const path = `${NAMESPACES}/default/configmaps`
  const alice = () => sendRequest(server, path, { token: 'alice-token' })
  expect((await alice()).body.message).toBe(
    'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"',
  )
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'devs' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'devs' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  }
  const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings'
  const { status } = await sendRequest(server, bindings, { method: 'POST', token: server.token, body: binding })
  expect(status).toBe(201)
  await expect.poll(async () => (await alice()).status).toBe(200)
})

test('with AlwaysAllow every authenticated user may do everything, and anonymous requests are refused', async () => {
  for (const anonymous of [undefined, true, false]) {
    const tokens = { 'alice-token': { name: 'alice' } }
    const server = await start({ authorization: 'AlwaysAllow', tokens, ...(anonymous !== undefined && { anonymous }) })
    expect((await sendRequest(server, NAMESPACES, { token: 'alice-token' })).status).toBe(200)
    expect((await sendRequest(server, NAMESPACES, { client: server.client })).status).toBe(200)
    for (const path of [NAMESPACES, '/healthz', '/version']) {
      expect(await sendRequest(server, path)).toMatchObject({ status: 401, body: { reason: 'Unauthorized' } })
    }
  }
})

test('requests without credentials are anonymous, unless that is switched off', async () => {
  const open = await start()
  expect((await sendRequest(open, '/healthz')).status).toBe(200)
  expect((await sendRequest(open, NAMESPACES)).status).toBe(403)
  const closed = await start({ anonymous: false })
  expect((await sendRequest(closed, '/healthz')).status).toBe(401)
})

test('stopping ends watches and frees the port, and may be called twice', async () => {
  const server = await start()
  const watch = await beginWatch(server, `${NAMESPACES}?watch=true`, server.token)
  await Promise.all([server.stop(), server.stop(), watch.ended])
  const port = Number(new URL(server.url).port)
  const next = await start({ port })
  expect(next.url).toBe(server.url)
})

test('a data directory keeps objects across starts, and is used by one server at a time', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-folder-'))
  try {
    const storage = { folder: join(directory, 'store') }
    const first = await start({ storage })
    await sendRequest(first, NAMESPACES, { method: 'POST', token: first.token, body: namespace('kept') })
    await expect(startBinnacle({ storage })).rejects.toThrow('is in use by this process')
    await first.stop()
    const second = await start({ storage })
    expect((await sendRequest(second, `${NAMESPACES}/kept`, { token: second.token })).status).toBe(200)
    await second.stop()
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('a namespace is deleted with its objects, unless that is switched off', async () => {
  const on = await start()
  const off = await start({ controllers: ['*', '-namespace-controller'] })
  for (const server of [on, off]) {
    const { token } = server
    await sendRequest(server, NAMESPACES, { method: 'POST', token, body: namespace('short') })
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inside' } }
    await sendRequest(server, `${NAMESPACES}/short/configmaps`, { method: 'POST', token, body: configMap })
    await sendRequest(server, `${NAMESPACES}/short`, { method: 'DELETE', token })
  }
  const statusOn = async (server: Binnacle) =>
    (await sendRequest(server, `${NAMESPACES}/short`, { token: server.token })).status
  await expect.poll(() => statusOn(on)).toBe(404)
  const { body } = await sendRequest(off, `${NAMESPACES}/short`, { token: off.token })
  expect(body.status.phase).toBe('Terminating')
})

test('a wrong option is refused before anything is started', async () => {
  // As from a program in JavaScript.
  const options: object = { authorization: 'rbac' }
  await expect(startBinnacle(options)).rejects.toThrow('did you mean RBAC?')
  await expect(startBinnacle({ disabledAdmissionPlugins: ['Foo'] })).rejects.toThrow('plugin "Foo" is unknown')
  await expect(startBinnacle({ runtimeConfig: { 'nope/v1': true } })).rejects.toThrow('unknown api groups nope/v1')
})

test('the log goes to a function, at the level that is asked for', async () => {
  const lines: string[] = []
  const server = await start({ verbosity: 2, log: ({ level, message }) => void lines.push(`${level} ${message}`) })
  await sendRequest(server, NAMESPACES, { token: server.token })
  await server.stop()
  expect(lines).toEqual(['info serving', 'info request', 'info stopping', 'info stopped'])
})
