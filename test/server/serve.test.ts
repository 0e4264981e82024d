// `binnacle serve`: start, requests, stop, restart.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { type BinnacleProcess, runBinnacle, spawnBinnacle } from '../components/binnacle.js'
import { dataDirectoryForEachTest } from '../components/data-directory.js'
import { begin, beginWatch, responseTo, sendRequest } from './request.js'

const token = 'admin-token'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } })

const data = dataDirectoryForEachTest('serve')
const { start } = data

/** A request that the server has begun to process, without its body. */
async function beginCreate(server: BinnacleProcess): Promise<ClientRequest> {
  const asking = begin(server, CONFIGMAPS, { method: 'POST', token })
  asking.setHeader('expect', '100-continue')
  asking.flushHeaders()
  await once(asking, 'continue')
  return asking
}

/** Resolves when the port is closed. */
async function refused(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  for (;;) {
    const socket = connect(Number(port), hostname)
    const outcome = await Promise.race([
      once(socket, 'connect').then(() => 'open'),
      new Promise(resolve => socket.once('error', () => resolve('refused'))),
    ])
    socket.destroy()
    if (outcome === 'refused') return
  }
}

test('objects are kept across a restart, with their names, uids and versions', async () => {
  const first = await start()
  const created = await sendRequest(first, CONFIGMAPS, { method: 'POST', token, body: configMap('kept') })
  expect(created.status).toBe(201)
  const { body: namespaces } = await sendRequest(first, '/api/v1/namespaces', { token })
  expect(await first.stop()).toBe(0)

  const second = await start()
  const { status, body } = await sendRequest(second, `${CONFIGMAPS}/kept`, { token })
  expect(status).toBe(200)
  expect(body.metadata).toEqual(created.body.metadata)
  // The system objects of the first start are left as they are.
  const { body: later } = await sendRequest(second, '/api/v1/namespaces', { token })
  expect(later.items).toEqual(namespaces.items)
})

test('SIGTERM finishes running requests, ends watches, refuses new ones, and keeps acknowledged writes', async () => {
  const server = await start()
  const watch = await beginWatch(server, `${CONFIGMAPS}?watch=true`, token)
  const asking = await beginCreate(server)

  server.signal('SIGTERM')
  await watch.ended
  await refused(server.url)
  asking.end(JSON.stringify(configMap('last')))
  expect((await responseTo(asking)).status).toBe(201)
  expect((await server.exit).code).toBe(0)

  const again = await start()
  expect((await sendRequest(again, `${CONFIGMAPS}/last`, { token })).status).toBe(200)
})

test('a stop does not wait for bodies that are not sent, on any listener', async () => {
  const server = await start('--http-port=0')
  const [, httpUrl = ''] = /Plain http is at (\S+)\./.exec(server.output.stdout)!
  const asking = await beginCreate(server)
  asking.on('error', () => {})
  const { hostname, port } = new URL(httpUrl)
  const socket = connect(Number(port), hostname)
  const head = `POST ${CONFIGMAPS} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\ncontent-length: 100\r\n\r\n{`
  await new Promise(resolve => socket.write(head, resolve))
  socket.on('error', () => {})
  const began = performance.now()
  expect(await server.stop()).toBe(0)
  expect(performance.now() - began).toBeLessThan(5000)
  socket.destroy()
})

test('with a shutdown delay, requests are served while /readyz fails', async () => {
  const server = await start('--storage=memory', '--shutdown-delay-duration=1500ms')
  server.signal('SIGTERM')
  await expect.poll(async () => (await sendRequest(server, '/readyz', { token })).status).toBe(500)
  expect((await sendRequest(server, '/livez', { token })).status).toBe(200)
  expect((await sendRequest(server, CONFIGMAPS, { token })).status).toBe(200)
  expect((await server.exit).code).toBe(0)
})

test('a signal at any moment of a start ends it, and the next start finds everything in order', async () => {
  for (const delay of [50, 150, 250, 350, 450]) {
    const starting = spawnBinnacle('serve', `--data-dir=${data.path}`, '--secure-port=0')
    setTimeout(() => starting.signal('SIGTERM'), delay)
    const { code, stderr } = await starting.exit
    // Null: the signal came before Node had loaded the program.
    expect([0, 143, null]).toContain(code)
    expect(stderr).not.toMatch(/Error|^ {4}at /m)
  }
  const next = await start()
  expect((await sendRequest(next, '/readyz', { token })).status).toBe(200)
})

test('the log is text or JSON, and names each request with --v=2', async () => {
  const server = await start('--storage=memory', '--v=2', '--logging-format=json')
  await sendRequest(server, CONFIGMAPS, { token, headers: { 'audit-id': 'my-audit-id' } })
  await server.stop()
  const lines = server.output.stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['serving', 'request', 'stopping', 'stopped']))
  expect(lines.find(({ auditId }) => auditId === 'my-audit-id')).toMatchObject({
    level: 'info',
    msg: 'request',
    user: 'admin',
    verb: 'list',
    path: CONFIGMAPS,
    status: 200,
    milliseconds: expect.any(Number),
    ts: expect.any(Number),
  })
  const text = await start('--storage=memory')
  await text.stop()
  expect(text.output.stderr.replaceAll(/^\S+Z /gm, '')).toBe(
    `INFO  serving url=${text.url}\nINFO  stopping\nINFO  stopped\n`,
  )
})

test('a second signal ends the process at once', async () => {
  const server = await start()
  const asking = await beginCreate(server)
  asking.on('error', () => {})
  server.signal('SIGTERM')
  await refused(server.url)
  server.signal('SIGTERM')
  expect((await server.exit).code).toBe(143)
})

describe('a failing start', () => {
  test('on a directory in use reports the process, and changes nothing', async () => {
    const server = await start()
    const content = () => new Set(readdirSync(data.path, { recursive: true, encoding: 'utf8' }))
    const before = content()
    const kubeconfig = readFileSync(join(data.path, 'kubeconfig'), 'utf8')
    const { code, stdout, stderr } = await runBinnacle('serve', `--data-dir=${data.path}`, '--secure-port=0')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `binnacle: the data directory ${join(data.path, 'store')} is in use by process ${server.pid}; stop that one first, or name another directory\n`,
    )
    expect(content()).toEqual(before)
    expect(readFileSync(join(data.path, 'kubeconfig'), 'utf8')).toBe(kubeconfig)
    expect((await sendRequest(server, '/readyz', { token })).text).toBe('ok')
  })

  test('on a port in use reports it, and releases the directory', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const { code, stderr } = await runBinnacle('serve', `--data-dir=${data.path}`, `--secure-port=${port}`)
    taken.close()
    expect(code).toBe(1)
    expect(stderr).toBe(
      `binnacle: port ${port} of 127.0.0.1 is in use; stop the program that uses it, or choose another port (0 takes any free one)\n`,
    )
    expect(existsSync(join(data.path, 'kubeconfig'))).toBe(false)
    const next = await start()
    expect((await sendRequest(next, '/readyz', { token })).status).toBe(200)
  })

  test('with an invalid certificate file reports it, before creating anything', async () => {
    const [cert, key] = [join(data.path, 'a.crt'), join(data.path, 'a.key')]
    writeFileSync(cert, 'nothing')
    writeFileSync(key, 'nothing')
    const flags = [`--data-dir=${join(data.path, 'data')}`, `--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`]
    const { code, stderr } = await runBinnacle('serve', ...flags)
    expect(code).toBe(1)
    expect(stderr).toMatch(`binnacle: ${cert} and ${key} are not a certificate and its key in PEM form`)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(existsSync(join(data.path, 'data'))).toBe(false)
  })

  test('without a reachable etcd reports its address', async () => {
    const flags = ['--etcd-servers=http://127.0.0.1:1', `--data-dir=${join(data.path, 'data')}`, '--secure-port=0']
    const { code, stderr } = await runBinnacle('serve', ...flags, '--etcd-start-timeout=0')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^binnacle: the server did not start within \d s: .*127\.0\.0\.1:1/)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  test('with an unknown flag suggests a similar one', async () => {
    const { code, stdout, stderr } = await runBinnacle('serve', '--secure-prot=1')
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'binnacle: there is no flag --secure-prot: did you mean --secure-port?\n',
    })
  })
})

test('flags of kube-apiserver: harmless ones give a warning, and an audit policy is carried out', async () => {
  const [policy, log] = [join(data.path, 'policy.yaml'), join(data.path, 'audit.log')]
  const rule = '{level: RequestResponse, users: [admin], resources: [{resources: [configmaps]}]}'
  writeFileSync(policy, `{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [${rule}]}`)
  const audit = [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`]
  const server = await start('--storage=memory', '--profiling', '--goaway-chance', '0.1', ...audit)
  const warnings = server.output.stderr.split('\n').filter(line => line.startsWith('binnacle: '))
  expect(warnings).toEqual(['profiling', 'goaway-chance'].map(name => `binnacle: --${name} has no effect here`))

  await sendRequest(server, CONFIGMAPS, { method: 'POST', token, body: configMap('a') })
  await sendRequest(server, '/api/v1/nodes', { token })
  await sendRequest(server, `${CONFIGMAPS}/a`, { method: 'DELETE', token })
  // An event is written when its response was sent.
  const lines = await vi.waitUntil(() => {
    const written = readFileSync(log, 'utf8').trim().split('\n')
    return written.length === 2 && written
  })
  expect(lines.map(line => JSON.parse(line) as Record<string, unknown>)).toMatchObject([
    {
      verb: 'create',
      stage: 'ResponseComplete',
      user: { username: 'admin' },
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'a' },
      responseStatus: { code: 201 },
      requestObject: { data: { a: 'b' } },
      responseObject: { kind: 'ConfigMap', metadata: { name: 'a' } },
      annotations: { 'authorization.k8s.io/decision': 'allow' },
    },
    { verb: 'delete', responseStatus: { status: 'Success', code: 200 } },
  ])
})

test('plain http is served beside https, or instead of it, on request', async () => {
  const beside = await start('--http-port=0', '--storage=memory')
  const [, http] = /Plain http is at (\S+)\./.exec(beside.output.stdout)!
  expect(beside.url).toMatch(/^https:/)
  expect(await (await fetch(`${http}/readyz`)).text()).toBe('ok')

  const instead = await start('--http-port=0', '--https=false', '--storage=memory')
  expect(instead.url).toMatch(/^http:/)
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`${instead.url}/api/v1/namespaces/default`, { headers })).status).toBe(200)
  expect((await fetch(`${instead.url}/api/v1/namespaces/default`)).status).toBe(403)
})

const hasKubectl = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status === 0

describe.skipIf(!hasKubectl)('with kubectl', () => {
  const kubectl = (...args: string[]) =>
    spawnSync('kubectl', args, { encoding: 'utf8', env: { ...process.env, HOME: data.path, KUBECONFIG: '' } })

  test('the written kubeconfig is sufficient', async () => {
    const server = await start()
    const { status, stdout, stderr } = kubectl('--kubeconfig', server.kubeconfig, 'get', 'namespaces', '-o', 'name')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      'namespace/default',
      'namespace/kube-node-lease',
      'namespace/kube-public',
      'namespace/kube-system',
    ])
  })
})
