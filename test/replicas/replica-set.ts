// Three replicas on a cluster of three etcds, each with connections of its own that can be cut: two are processes, which
// can be killed and paused, and one runs here, with a clock that can be set.

import { SYSTEM_CLOCK } from '../../src/base/clock.js'
import { readLibraryOptions } from '../../src/server/options/library.js'
import { startServer } from '../../src/server/server.js'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { type Etcd, startEtcdCluster } from '../components/etcd.js'
import { type Proxy, startProxy } from '../components/proxy.js'
import { type Response, type SendOptions, sendRequest } from '../server/request.js'

export const TOKEN = 'admin-token'
const ELECTION = { leaseMs: 2000, renewDeadlineMs: 1000, retryMs: 250 }
const ELECTION_FLAGS = [
  '--leader-elect-lease-duration=2s',
  '--leader-elect-renew-deadline=1s',
  '--leader-elect-retry-period=250ms',
]

export interface Replica {
  readonly url: string
  /** Its connections to the members of etcd. */
  readonly proxies: readonly Proxy[]
  /** Undefined for the replica in this process. */
  readonly process: BinnacleProcess | undefined
}

export interface ReplicaSet {
  readonly etcds: readonly Etcd[]
  readonly replicas: Replica[]
  /** The authority that all replicas share. */
  readonly ca: string
  /** Sets the clock of the replica in this process, in milliseconds from now. */
  setClock(offsetMs: number): void
  /** Kills the process of a replica. */
  kill(index: number): Promise<void>
  /** Starts it again, at its address. */
  start(index: number): Promise<void>
  /** A request to one replica. */
  send(index: number, path: string, options?: SendOptions): Promise<Response>
  stop(): Promise<void>
}

export async function startReplicaSet(): Promise<ReplicaSet> {
  const etcds = await startEtcdCluster(3)
  const ports = etcds.map(({ endpoints }) => Number(new URL(endpoints[0]!).port))
  const proxies = await Promise.all(
    Array.from({ length: 3 }, () => Promise.all(ports.map(port => startProxy({ port })))),
  )
  const endpointsOf = (index: number): string[] => proxies[index]!.map(({ port }) => `http://127.0.0.1:${port}`)
  let offset = 0

  const startProcess = (index: number, port = '0'): Promise<BinnacleProcess> =>
    startBinnacleProcess(
      `--etcd-servers=${endpointsOf(index).join(',')}`,
      '--controllers=*',
      `--secure-port=${port}`,
      ...ELECTION_FLAGS,
    )

  // Together on an empty etcd, as replicas start in practice.
  const { server: options } = readLibraryOptions({
    storage: { etcd: endpointsOf(2) },
    tokens: { [TOKEN]: { name: 'admin', groups: ['system:masters'] } },
  })
  const clock = { ...SYSTEM_CLOCK, now: () => Date.now() + offset }
  const [first, second, own] = await Promise.all([
    startProcess(0),
    startProcess(1),
    startServer({ ...options, clock, leaderElection: ELECTION }),
  ])
  const replicas: Replica[] = [
    { url: first.url, proxies: proxies[0]!, process: first },
    { url: second.url, proxies: proxies[1]!, process: second },
    { url: own.url, proxies: proxies[2]!, process: undefined },
  ]
  const { ca } = first

  return {
    etcds,
    replicas,
    ca,
    setClock(offsetMs) {
      offset = offsetMs
    },
    kill: index => replicas[index]!.process!.kill(),
    async start(index) {
      const { url } = replicas[index]!
      const process = await startProcess(index, new URL(url).port)
      replicas[index] = { url, proxies: proxies[index]!, process }
    },
    send: (index, path, sent = {}) => sendRequest({ url: replicas[index]!.url, ca }, path, { token: TOKEN, ...sent }),
    async stop() {
      await Promise.all(replicas.map(async ({ process }) => process?.kill()))
      await own.stop()
      await Promise.all(proxies.flat().map(proxy => proxy.close()))
      await Promise.all(etcds.map(etcd => etcd.stop()))
    },
  }
}
