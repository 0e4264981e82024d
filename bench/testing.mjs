// What a test server costs a test: start, a clean state, a test of a few requests, memory. Binnacle in the process beside the
// programs that envtest starts, the same with KWOK and kube-controller-manager, and answers written down by hand.
import { fork, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask, cpuSeconds, ended, here, mostResidentBytes, TOKEN } from './processes.mjs'
import { median } from './side-by-side.mjs'
import { oneTest } from './testing-process.mjs'

const USAGE =
  'usage: npm run bench -- testing --originals <folder with kube-apiserver, etcd, kube-controller-manager> [--kwok <program>] [--rounds <number>]'

export async function run(args) {
  const option = name => args[args.indexOf(name) + 1 || args.length]
  const [originals, kwok] = [option('--originals'), option('--kwok')]
  const rounds = Number(option('--rounds') ?? 5)
  if (!originals || !existsSync(join(originals, 'kube-apiserver')) || !Number.isInteger(rounds)) {
    console.error(USAGE)
    process.exitCode = 2
    return
  }
  const contenders = {
    'Binnacle, in the process': () => inProcess('binnacle'),
    'etcd and kube-apiserver': () => controlPlane(originals),
    ...(kwok && { 'with kube-controller-manager and KWOK': () => controlPlane(originals, kwok) }),
    'answers by hand': () => inProcess('mock'),
  }
  const figures = new Map(Object.keys(contenders).map(name => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(contenders)) figures.get(name).push(await measure())
  }
  print(figures)
}

function print(figures) {
  const rows = new Set([...figures.values()].flatMap(([first]) => Object.keys(first)))
  console.log(`| | ${[...figures.keys()].join(' | ')} |\n| --- ${'| --- '.repeat(figures.size)}|`)
  for (const row of rows) {
    const cells = [...figures.values()].map(all =>
      row in all[0] ? Math.round(median(all.map(each => each[row])) * 10) / 10 : '—',
    )
    console.log(`| ${row} | ${cells.join(' | ')} |`)
  }
}

/** In a process of its own, so that its figures are those of a test that begins. */
async function inProcess(what) {
  const child = fork(here('./testing-process.mjs'), [what])
  const [figures] = await once(child, 'message')
  await ended(child)
  return figures
}

async function controlPlane(originals, kwok) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-testing-'))
  const children = []
  const begin = performance.now()
  const start = (program, flags) => {
    const child = spawn(program, flags, { stdio: 'ignore', cwd: folder })
    children.push(child)
    return child
  }
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  try {
    const [client, peer, secure, other] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
    const at = port => `http://127.0.0.1:${port}`
    const etcdFlags = [
      `--data-dir=${folder}/etcd`,
      `--listen-client-urls=${at(client)}`,
      `--advertise-client-urls=${at(client)}`,
      `--listen-peer-urls=${at(peer)}`,
      '--unsafe-no-fsync',
    ]
    start(join(originals, 'etcd'), etcdFlags)
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }))
    writeFileSync(join(folder, 'tokens.csv'), `${TOKEN},bench,bench-uid,system:masters\n`)
    const apiFlags = [
      `--etcd-servers=${at(client)}`,
      `--secure-port=${secure}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${folder}/certs`,
      '--token-auth-file=tokens.csv',
      '--authorization-mode=RBAC',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-account-key-file=sa.key',
      '--service-account-signing-key-file=sa.key',
      '--disable-admission-plugins=ServiceAccount',
    ]
    start(join(originals, 'kube-apiserver'), apiFlags)
    const server = { url: `https://127.0.0.1:${secure}`, token: TOKEN }
    await until(() => ask(server, 'GET', '/readyz', undefined, { agent }))
    await until(() => ask(server, 'GET', '/api/v1/namespaces/default', undefined, { agent }))
    if (kwok) await startNodes(start, server, originals, kwok, folder, other, agent)
    const figures = { 'ready, ms': performance.now() - begin, 'processor time until then, ms': cpuOf(children) }
    const send = (method, path, body) => ask(server, method, path, body, { agent })
    const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
    await oneTest(send)
    const [cpu, time] = [cpuOf(children), performance.now()]
    for (let i = 0; i < 20; i++) {
      await send('DELETE', CONFIGMAPS)
      await oneTest(send)
    }
    figures['a test after deleting, ms'] = (performance.now() - time) / 20
    figures['processor time of a test after deleting, ms'] = (cpuOf(children) - cpu) / 20
    figures['memory at most, MB'] = children.reduce((sum, { pid }) => sum + mostResidentBytes(pid), 0) / 1e6
    return figures
  } finally {
    agent.destroy()
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(children.map(child => child.exitCode ?? child.signalCode ?? once(child, 'close')))
    rmSync(folder, { recursive: true, force: true })
  }
}

const cpuOf = children => children.reduce((sum, { pid }) => sum + cpuSeconds(pid) * 1000, 0)

/** KWOK is ready when a node of it is. */
async function startNodes(start, server, originals, kwok, folder, port, agent) {
  const named = { name: 'bench' }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ ...named, cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
    users: [{ ...named, user: { token: TOKEN } }],
    contexts: [{ ...named, context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  }
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config))
  const managerFlags = [
    '--kubeconfig=kubeconfig',
    '--leader-elect=false',
    `--secure-port=${port}`,
    '--cert-dir=manager',
  ]
  start(join(originals, 'kube-controller-manager'), managerFlags)
  writeFileSync(join(folder, 'stages.json'), JSON.stringify(NODE_STAGE))
  start(kwok, ['--kubeconfig=kubeconfig', '--manage-all-nodes=true', '--config=stages.json'])
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node' } }
  await ask(server, 'POST', '/api/v1/nodes', node, { agent })
  await until(async () => {
    const { status } = JSON.parse(await ask(server, 'GET', '/api/v1/nodes/node', undefined, { agent }))
    if (!status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
      throw new Error('not ready')
  })
}

/** What KWOK does with a node: it becomes Ready at once. */
const NODE_STAGE = {
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name: 'node-ready' },
  spec: {
    resourceRef: { apiGroup: 'v1', kind: 'Node' },
    selector: { matchExpressions: [{ key: '.status.phase', operator: 'DoesNotExist' }] },
    next: { statusTemplate: JSON.stringify({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }) },
  },
}

async function until(action) {
  for (const begin = performance.now(); ; ) {
    try {
      return await action()
    } catch (error) {
      if (performance.now() - begin > 120_000) throw error
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
