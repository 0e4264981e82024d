// The assets folder of `binnacle envtest install`, started, probed and stopped in the way of controller-runtime's envtest.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KeyPair, makeCertificate } from '../../src/server/tls/x509.js'
import { runBinnacle } from '../components/binnacle.js'

const directory = mkdtempSync(join(tmpdir(), 'binnacle-envtest-'))
const assets = join(directory, 'assets')
const running = new Set<ChildProcess>()

beforeAll(async () => {
  const { code, stdout } = await runBinnacle('envtest', 'install', assets)
  if (code !== 0 || stdout !== `${assets}\n`) throw new Error(`envtest install: ${code}: ${stdout}`)
})

afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

describe('the folder', () => {
  test('has the three programs, executable and nothing else', () => {
    expect(readdirSync(assets).toSorted()).toEqual(['etcd', 'kube-apiserver', 'kubectl'])
    for (const name of readdirSync(assets)) expect(statSync(join(assets, name)).mode & 0o777).toBe(0o755)
  })

  test.each(['etcd', 'kube-apiserver'])('%s --help does not start Node, and offers no insecure port', name => {
    const { status, stdout } = spawnSync(join(assets, name), ['--help'], {
      env: { PATH: '/usr/bin:/bin' },
      encoding: 'utf8',
    })
    expect(status).toBe(0)
    expect(stdout).not.toMatch(/^\s*--insecure-port\b/m)
    expect(stdout).toMatch(name === 'etcd' ? /^\s*--unsafe-no-fsync\b/m : /^\s*--secure-port\b/m)
  })

  test('without Node, the message says what to install', () => {
    const script = join(directory, 'no-node')
    const text = readFileSync(join(assets, 'etcd'), 'utf8').replace(/^node=.*$/m, 'node=/nowhere/node')
    writeFileSync(script, text, { mode: 0o755 })
    const { status, stderr } = spawnSync(script, ['--data-dir=x'], { env: { PATH: '/nowhere' }, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 127, stderr: expect.stringContaining('install Node.js 20 or newer') })
  })

  test('kubectl is the one of the PATH, or a message', () => {
    const { status, stderr } = spawnSync(join(assets, 'kubectl'), ['version'], {
      env: { PATH: assets },
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 127, stderr: expect.stringContaining('no kubectl in your PATH') })
  })
})

describe('a control plane', () => {
  test('starts, knows users of the client CA, keeps objects over a restart of the API server, and stops at SIGTERM', async () => {
    const plane = await preparePlane('kept')
    const etcd = await startEtcd(plane)
    const first = await startApiServer(plane)
    expect((await first.get('/healthz', undefined)).text).toBe('ok')
    const created = await first.post('/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kept' },
    })
    expect(created.status).toBe(201)
    await stop(first.child)

    const second = await startApiServer(plane)
    expect((await second.get('/api/v1/namespaces/default/configmaps/kept')).status).toBe(200)

    const robot = await second.post('/api/v1/namespaces/default/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'robot' },
    })
    expect(robot.status).toBe(201)
    const review = await second.post('/api/v1/namespaces/default/serviceaccounts/robot/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    })
    const { token } = (JSON.parse(review.text) as { status: { token: string } }).status
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as object
    expect(claims).toMatchObject({ iss: `https://127.0.0.1:${plane.port}/`, aud: [`https://127.0.0.1:${plane.port}/`] })

    // envtest kills what does not stop in time.
    process.kill(-second.child.pid!, 'SIGKILL')
    await once(second.child, 'exit')
    const third = await startApiServer(plane)
    // The key by which the token is checked is that of a certificate.
    const reviewed = await third.post('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    })
    expect(JSON.parse(reviewed.text)).toMatchObject({
      status: { authenticated: true, user: { username: 'system:serviceaccount:default:robot' } },
    })
    await stop(third.child)
    await stop(etcd)
  })

  test.each(['with Perl', 'without Perl'])('etcd answers alike %s', async how => {
    const plane = await preparePlane(how.replace(' ', '-'))
    const etcd = await startEtcd(plane, how === 'with Perl' ? undefined : { PATH: '/nowhere' })
    const answers = ['/health', '/version', '/binnacle', '/v3/kv/range'].map(path =>
      send(() => requestHttp(`http://127.0.0.1:${plane.etcdPort}${path}`)),
    )
    expect((await Promise.all(answers)).map(({ status, text }) => [status, JSON.parse(text) as unknown])).toEqual([
      [200, { health: 'true', reason: '' }],
      [200, { etcdserver: '3.6.0', etcdcluster: '3.6.0' }],
      [200, { dataDir: plane.dataDir }],
      [404, { message: expect.stringContaining('no etcd') }],
    ])
    await stop(etcd)
  })

  test('has no controllers: a deleted namespace stays, a namespace has no account `default`', async () => {
    const plane = await preparePlane('still')
    const etcd = await startEtcd(plane)
    const server = await startApiServer(plane)
    await server.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'left' } })
    await server.send('DELETE', '/api/v1/namespaces/left')
    expect((await server.get('/api/v1/namespaces/left')).text).toContain('"phase":"Terminating"')
    expect((await server.get('/api/v1/namespaces/left/serviceaccounts/default')).status).toBe(404)
    await stop(server.child)
    await stop(etcd)
  })

  test('BINNACLE_CONTROLLERS switches controllers on', async () => {
    const plane = await preparePlane('lively')
    const etcd = await startEtcd(plane)
    const server = await startApiServer(plane, { BINNACLE_CONTROLLERS: '*' })
    await server.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'left' } })
    await server.send('DELETE', '/api/v1/namespaces/left')
    await until(async () => (await server.get('/api/v1/namespaces/left')).status === 404)
    expect((await server.get('/api/v1/namespaces/default/serviceaccounts/default')).status).toBe(200)
    await stop(server.child)
    await stop(etcd)
  })

  test.each(['with Perl', 'without Perl'])('leaves no process when the test is killed, %s', async how => {
    const plane = await preparePlane(`killed-${how.replace(' ', '-')}`)
    const programs = [
      ['kube-apiserver', ...apiServerFlags(plane)],
      ['etcd', ...etcdFlags(plane)],
    ]
    const script = `const { spawn } = require('node:child_process')
const [assets, programs, env] = JSON.parse(process.argv[1])
const start = ([name, ...flags]) => spawn(assets + '/' + name, flags, { stdio: 'ignore', detached: true, env })
console.log(JSON.stringify(programs.map(start).map(({ pid }) => pid)))
setInterval(() => {}, 1000)`
    const env = how === 'with Perl' ? process.env : { PATH: '/nowhere' }
    const killed = spawn(process.execPath, ['-e', script, JSON.stringify([assets, programs, env])], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(killed.stdout, 'data')) as [Buffer]
    const started = JSON.parse(line.toString()) as number[]
    try {
      await until(async () => (await send(() => requestHttp(`${etcdUrl(plane)}/health`))).status === 200)
      killed.kill('SIGKILL')
      await until(() => Promise.resolve(!started.some(isAlive)))
      expect(started.filter(isAlive)).toEqual([])
    } finally {
      for (const pid of started.filter(isAlive)) process.kill(pid, 'SIGKILL')
    }
  })

  test('a taken port ends the start at once, so that envtest tries another', async () => {
    const plane = await preparePlane('taken')
    const blocker = createServer().listen(plane.port, '127.0.0.1')
    await once(blocker, 'listening')
    const etcd = await startEtcd(plane)
    const child = launch('kube-apiserver', apiServerFlags(plane))
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(1)
    blocker.close()
    await stop(etcd)
  })
})

interface Plane {
  readonly dataDir: string
  readonly certDir: string
  readonly port: number
  readonly etcdPort: number
  readonly admin: KeyPair
}

/** The files and ports that envtest prepares. */
async function preparePlane(name: string): Promise<Plane> {
  const certDir = join(directory, name, 'certs')
  const dataDir = join(directory, name, 'data')
  mkdirSync(certDir, { recursive: true })
  mkdirSync(dataDir)
  const validity = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 3_600_000) }
  const authority = await makeCertificate({ subject: { name: 'envtest' }, validity, use: 'authority' })
  const serving = await makeCertificate(
    { subject: { name: 'localhost' }, validity, use: 'server', hosts: ['localhost', '127.0.0.1'] },
    authority,
  )
  const signer = await makeCertificate({ subject: { name: 'sa-signer' }, validity, use: 'authority' })
  const write = (file: string, text: string) => writeFileSync(join(certDir, file), text, { mode: 0o640 })
  write('apiserver.crt', serving.cert)
  write('apiserver.key', serving.key)
  write('sa-signer.crt', signer.cert)
  write('sa-signer.key', signer.key)
  write('client-cert-auth-ca.crt', authority.cert)
  const admin = await makeCertificate(
    { subject: { name: 'admin', organization: 'system:masters' }, validity, use: 'client' },
    authority,
  )
  return { dataDir, certDir, port: await freePort(), etcdPort: await freePort(), admin }
}

function apiServerFlags({ certDir, port, etcdPort }: Plane): string[] {
  return [
    '--allow-privileged=true',
    '--authorization-mode=RBAC',
    '--bind-address=127.0.0.1',
    `--cert-dir=${certDir}`,
    `--client-ca-file=${certDir}/client-cert-auth-ca.crt`,
    '--disable-admission-plugins=ServiceAccount',
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--secure-port=${port}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${certDir}/sa-signer.crt`,
    `--service-account-signing-key-file=${certDir}/sa-signer.key`,
    '--service-cluster-ip-range=10.0.0.0/24',
  ]
}

function launch(name: string, flags: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  // In a process group of its own, which envtest signals as a whole.
  const child = spawn(join(assets, name), flags, { stdio: 'ignore', detached: true, env: { ...process.env, ...env } })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

const etcdUrl = ({ etcdPort }: Plane): string => `http://127.0.0.1:${etcdPort}`

const etcdFlags = (plane: Plane): string[] => [
  `--advertise-client-urls=${etcdUrl(plane)}`,
  `--data-dir=${plane.dataDir}`,
  `--listen-client-urls=${etcdUrl(plane)}`,
  '--listen-peer-urls=http://127.0.0.1:0',
  '--unsafe-no-fsync=true',
]

async function startEtcd(plane: Plane, env?: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = launch('etcd', etcdFlags(plane), env)
  await until(async () => (await send(() => requestHttp(`${etcdUrl(plane)}/health`))).status === 200)
  return child
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // Its parent may not have asked for its end yet.
  return process.platform !== 'linux' || !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}

async function startApiServer(plane: Plane, env?: Readonly<Record<string, string>>) {
  const child = launch('kube-apiserver', apiServerFlags(plane), env)
  const call = (method: string, path: string, client: KeyPair | undefined, body?: object) =>
    send(
      () =>
        requestHttps(`https://127.0.0.1:${plane.port}${path}`, {
          method,
          rejectUnauthorized: false,
          agent: false,
          headers: { 'content-type': 'application/json' },
          ...client,
        }),
      body,
    )
  await until(async () => (await call('GET', '/healthz', undefined)).status === 200)
  return {
    child,
    get: (path: string, client: KeyPair | undefined = plane.admin) => call('GET', path, client),
    post: (path: string, body: object) => call('POST', path, plane.admin, body),
    send: (method: string, path: string) => call(method, path, plane.admin),
  }
}

/** Status 0 if there is no connection. */
function send(open: () => ReturnType<typeof requestHttp>, body?: object): Promise<{ status: number; text: string }> {
  return new Promise(resolve => {
    const request = open()
    request.on('error', () => resolve({ status: 0, text: '' }))
    request.on('response', response => {
      let text = ''
      response.setEncoding('utf8').on('data', part => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.end(body && JSON.stringify(body))
  })
}

/** envtest, too, asks every 100 ms. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error('not ready within 20 s')
    await sleep(100)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  process.kill(-child.pid!, 'SIGTERM')
  await ended
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
