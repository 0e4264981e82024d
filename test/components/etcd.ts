// etcd processes for tests: started on free loopback ports with a temporary data directory, paused, killed and
// restarted by the test, and stopped with it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get as httpGet } from 'node:http'
import { get as httpsGet } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface EtcdOptions {
  /** Its data directory: by default a temporary one, which `stop()` removes. */
  readonly dataDir?: string | undefined
  /** Serves only TLS clients with a certificate of the same CA. */
  readonly tls?: TestCertificates | undefined
  /** More flags for `etcd`, such as `--experimental-watch-progress-notify-interval=200ms`. */
  readonly args?: readonly string[] | undefined
}

export interface Etcd {
  readonly endpoints: string[]
  readonly dataDir: string
  /** The process that runs now; undefined while it is killed. */
  readonly pid: number | undefined
  /** SIGSTOP: connections stay open without responses. */
  pause(): void
  /** SIGCONT. */
  resume(): void
  /** SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>
  /** Ends the process, if it runs, and starts another on the same data and ports; resolves when it is ready. */
  restart(): Promise<void>
  /** Ends the process and removes its temporary directory. */
  stop(): Promise<void>
}

/**
 * Whether tests that need etcd must be skipped: `describe.skipIf(etcdMissing())`. On a developer's machine a notice is
 * printed; with CI=true it is a failure, so that these tests are never skipped unnoticed.
 */
export function etcdMissing(): boolean {
  if (onPath('etcd')) return false
  const message = 'etcd is not installed (Debian: apt-get install etcd-server)'
  if (process.env.CI === 'true') throw new Error(message)
  console.warn(`\n*** SKIPPED: ${message}; tests against etcd did not run ***\n`)
  return true
}

export async function startEtcd(options: EtcdOptions = {}): Promise<Etcd> {
  const [member] = await startEtcdCluster(1, options)
  return member!
}

/** Starts the members of one cluster; resolves when each of them is ready. */
export async function startEtcdCluster(size: number, options: EtcdOptions = {}): Promise<Etcd[]> {
  for (let attempt = 1; ; attempt++) {
    const ports = await freePorts(size * 2)
    const members = Array.from({ length: size }, (_, i) => ({
      name: `m${i}`,
      client: ports[2 * i]!,
      peer: ports[2 * i + 1]!,
    }))
    const initialCluster = members.map(({ name, peer }) => `${name}=http://127.0.0.1:${peer}`).join(',')
    const started = members.map(member => createMember(member, initialCluster, options))
    const outcomes = await Promise.allSettled(started.map(etcd => etcd.restart()))
    const failure = outcomes.find(outcome => outcome.status === 'rejected')
    if (!failure) return started
    await Promise.all(started.map(etcd => etcd.stop()))
    // Another process may have taken a port between its reservation and etcd's start.
    if (attempt === 5 || !String(failure.reason).includes('address already in use')) throw failure.reason
  }
}

const NEVER_CHANGED = new Int32Array(new SharedArrayBuffer(4))

function waitUntilStopped(pid: number): void {
  while (!isStopped(pid)) Atomics.wait(NEVER_CHANGED, 0, 0, 1)
}

/** Whether all threads of a process are stopped or have ended, where the system has a /proc. */
function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`
  try {
    return readdirSync(tasks).every(task => {
      const stat = readFileSync(join(tasks, task, 'stat'), 'utf8')
      // One that has ended is a zombie until this process returns to its loop.
      return 'TZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2))
    })
  } catch {
    // A thread has ended meanwhile, or the process, or there is no /proc.
    return !existsSync(tasks)
  }
}

interface MemberAddress {
  readonly name: string
  readonly client: number
  readonly peer: number
}

function createMember({ name, client, peer }: MemberAddress, initialCluster: string, options: EtcdOptions): Etcd {
  const { tls, args = [] } = options
  const dataDir = options.dataDir ?? createDirectory('binnacle-etcd-')
  const endpoint = `${tls ? 'https' : 'http'}://127.0.0.1:${client}`
  let child: ChildProcess | undefined
  let output = ''

  function start(): ChildProcess {
    const peerUrl = `http://127.0.0.1:${peer}`
    const flags = [
      `--name=${name}`,
      `--data-dir=${dataDir}`,
      `--listen-client-urls=${endpoint}`,
      `--advertise-client-urls=${endpoint}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=${initialCluster}`,
      '--logger=zap',
      '--log-level=error',
      // A single member needs no long election timeout.
      ...(initialCluster.includes(',') ? [] : ['--heartbeat-interval=20', '--election-timeout=200']),
      ...(tls ? ['--client-cert-auth', `--trusted-ca-file=${tls.files.ca}`] : []),
      ...(tls ? [`--cert-file=${tls.files.serverCert}`, `--key-file=${tls.files.serverKey}`] : []),
      ...args,
    ]
    // setpriv, if available, makes the kernel end etcd even if this process is killed.
    const [command, ...rest] = onPath('setpriv')
      ? ['setpriv', '--pdeathsig', 'KILL', 'etcd', ...flags]
      : ['etcd', ...flags]
    output = ''
    const started = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: environment() })
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-8192)
      })
    }
    running.add(started)
    started.on('exit', () => running.delete(started))
    started.on('error', () => running.delete(started))
    return started
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child
    child = undefined
    if (!ending || hasExited(ending)) return
    const gone = new Promise(resolve => ending.once('exit', resolve))
    ending.kill('SIGCONT') // a paused process does not handle SIGTERM
    ending.kill(signal)
    const lastResort = setTimeout(() => ending.kill('SIGKILL'), 5_000)
    await gone
    clearTimeout(lastResort)
  }

  async function ready(starting: ChildProcess): Promise<void> {
    const deadline = Date.now() + 30_000
    let failed: Error | undefined
    starting.once('error', error => {
      failed = error
    })
    while (!(await isHealthy(`${endpoint}/health`, tls))) {
      if (failed) throw failed
      if (hasExited(starting)) throw new Error(`etcd ended before it was ready:\n${output}`)
      if (Date.now() > deadline) throw new Error(`etcd was not ready in 30 s:\n${output}`)
      await delay(20)
    }
  }

  return {
    endpoints: [endpoint],
    dataDir,
    get pid() {
      return child?.pid
    },
    pause() {
      child?.kill('SIGSTOP')
      // The signal takes effect a little later, and only in the threads that run: until then etcd still answers.
      if (child?.pid !== undefined) waitUntilStopped(child.pid)
    },
    resume: () => void child?.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM')
      child = start()
      await ready(child)
    },
    async stop() {
      await end('SIGKILL') // its data is removed anyway, and on SIGTERM a leader spends seconds on transferring its leadership
      if (options.dataDir === undefined) removeDirectory(dataDir)
    },
  }
}

/** A certificate authority with one server and one client certificate, as PEM text and as files. */
export interface TestCertificates {
  readonly ca: string
  readonly clientCert: string
  readonly clientKey: string
  readonly files: { readonly ca: string; readonly serverCert: string; readonly serverKey: string }
  remove(): void
}

/** Creates certificates for 127.0.0.1 with the `openssl` command. */
export function makeCertificates(): TestCertificates {
  const directory = createDirectory('binnacle-tls-')
  const at = (file: string): string => join(directory, file)
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=test authority')
  for (const [name, usage] of [
    ['server', 'serverAuth,clientAuth'],
    ['client', 'clientAuth'],
  ] as const) {
    writeFileSync(at(`${name}.ext`), `subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=${usage}\n`)
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    const authority = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial']
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...authority,
      '-out',
      `${name}.crt`,
      '-days',
      '2',
      '-extfile',
      `${name}.ext`,
    )
  }
  return {
    ca: readFileSync(at('ca.crt'), 'utf8'),
    clientCert: readFileSync(at('client.crt'), 'utf8'),
    clientKey: readFileSync(at('client.key'), 'utf8'),
    files: { ca: at('ca.crt'), serverCert: at('server.crt'), serverKey: at('server.key') },
    remove: () => removeDirectory(directory),
  }
}

/** Ports that were free a moment ago, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer()
      return new Promise<typeof server>((resolve, reject) => {
        server.once('error', reject)
        server.listen(0, '127.0.0.1', () => resolve(server))
      })
    }),
  )
  const ports = servers.map(server => (server.address() as { port: number }).port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}

// Left behind by an aborted test.
const running = new Set<ChildProcess>()
const directories = new Set<string>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const directory of directories) removeDirectory(directory)
})

function createDirectory(prefix: string): string {
  const directory = mkdtempSync(join(tmpdir(), prefix))
  directories.add(directory)
  return directory
}

function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
  directories.delete(directory)
}

const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const onPath = (command: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some(directory => directory !== '' && existsSync(join(directory, command)))

/** The environment without ETCD_… variables, which etcd would read as flags. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ETCD_')))

function isHealthy(url: string, tls: TestCertificates | undefined): Promise<boolean> {
  return new Promise(resolve => {
    const request = tls
      ? httpsGet(url, { ca: tls.ca, cert: tls.clientCert, key: tls.clientKey, timeout: 1_000, agent: false })
      : httpGet(url, { timeout: 1_000, agent: false })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
    request.on('response', response => {
      response.resume()
      resolve(response.statusCode === 200)
    })
  })
}
