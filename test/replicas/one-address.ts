// Clients that know one kubeconfig: `binnacle balance` before all replicas, kubectl, and informers of client-node.
import { join } from 'node:path'
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node'
import { expect } from 'vitest'
import { createKubectl, createKubectlHome, kubectlMissing } from '../clients/kubectl-process.js'
import { spawnBinnacle } from '../components/binnacle.js'
import type { ReplicaSet } from './replica-set.js'

const TIMEOUT = { timeout: 30_000 }
/** So many that the balancer has some of them at each replica. */
const INFORMERS = 3

export interface OneAddress {
  /** Writes an object by each kind of client, at the first attempt, and waits until all informers have seen it. */
  write(name: string): Promise<void>
  /** Waits until the balancer has found this of a replica. */
  knows(index: number, readiness: 'ready' | 'away'): Promise<void>
  stop(): Promise<void>
}

export async function startOneAddress(set: ReplicaSet): Promise<OneAddress> {
  const home = createKubectlHome()
  const kubeconfig = join(home.path, 'kubeconfig')
  const hosts = set.replicas.map(({ url }) => new URL(url).host)
  const balancer = spawnBinnacle(
    'balance',
    `--servers=${hosts.join(',')}`,
    '--listen=127.0.0.1:0',
    `--kubeconfig=${set.replicas[0]!.process!.kubeconfig}`,
    `--kubeconfig-out=${kubeconfig}`,
  )
  const lastOf = (index: number): string | undefined =>
    balancer.output.stderr.split('\n').findLast(line => line.includes(hosts[index]!))
  async function knows(index: number, readiness: string): Promise<void> {
    await expect.poll(() => lastOf(index), TIMEOUT).toContain(`is ${readiness}`)
  }
  await expect.poll(() => balancer.output.stdout, TIMEOUT).toContain('is ready at ')
  for (const index of hosts.keys()) await knows(index, 'ready')

  const namespace = 'default'
  const kubectl = kubectlMissing() ? undefined : createKubectl(home.path, kubeconfig, namespace)
  const clients = await Promise.all(
    Array.from({ length: INFORMERS }, async () => {
      const config = new KubeConfig()
      config.loadFromFile(kubeconfig)
      const core = config.makeApiClient(CoreV1Api)
      const list = () => core.listNamespacedConfigMap({ namespace })
      const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list)
      let isOver = false
      informer.on('error', () => setTimeout(() => isOver || void informer.start(), 50))
      await informer.start()
      return {
        core,
        has: (name: string) => informer.get(name, namespace) !== undefined,
        stop() {
          isOver = true
          return informer.stop()
        },
      }
    }),
  )

  return {
    knows,
    async write(name) {
      const written = [`kubectl-${name}`, `node-${name}`]
      await kubectl?.says('create', 'configmap', written[0]!)
      await clients[0]!.core.createNamespacedConfigMap({ namespace, body: { metadata: { name: written[1]! } } })
      const expected = kubectl ? written : written.slice(1)
      for (const { has } of clients) await expect.poll(() => expected.every(has), TIMEOUT).toBe(true)
    },
    async stop() {
      await Promise.all(clients.map(client => client.stop()))
      balancer.signal('SIGTERM')
      await balancer.exit
      home.remove()
    },
  }
}
