// Three replicas on three etcds, under load, while replicas are killed, paused, cut off and get a wrong clock, and members
// of etcd are killed and paused: no acknowledged write is lost, no address is given twice, a client with a watch sees
// everything, and one replica runs the controllers. `REPLICA_ROUNDS=20` runs longer. And clients with one kubeconfig go on
// at other replicas, whichever dies.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { etcdMissing } from '../components/etcd.js'
import { startOneAddress } from './one-address.js'
import { type ReplicaSet, startReplicaSet } from './replica-set.js'
import { leaders, startWorkload } from './workload.js'

const ROUNDS = Number(process.env['REPLICA_ROUNDS'] ?? 1)
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const FAULT_MS = 1500

describe.skipIf(etcdMissing())('three replicas', () => {
  let set: ReplicaSet

  beforeAll(async () => {
    set = await startReplicaSet()
  }, 60_000)
  afterAll(() => set?.stop())

  const FAULTS: Readonly<Record<string, () => Promise<void>>> = {
    async 'a replica is killed'() {
      await set.kill(0)
      await set.start(0)
    },
    async 'a replica is paused'() {
      set.replicas[1]!.process!.signal('SIGSTOP')
      await sleep(2 * FAULT_MS)
      set.replicas[1]!.process!.signal('SIGCONT')
    },
    async 'a replica is cut off'() {
      for (const proxy of set.replicas[2]!.proxies) proxy.swallow()
      await sleep(2 * FAULT_MS)
      for (const proxy of set.replicas[2]!.proxies) await proxy.heal()
    },
    async 'a clock is an hour ahead, and then behind'() {
      set.setClock(3_600_000)
      await sleep(FAULT_MS)
      set.setClock(-3_600_000)
      await sleep(FAULT_MS)
      set.setClock(0)
    },
    async 'a member of etcd is killed'() {
      await set.etcds[0]!.kill()
      await sleep(FAULT_MS)
      await set.etcds[0]!.restart()
    },
    async 'a member of etcd is paused'() {
      set.etcds[1]!.pause()
      await sleep(FAULT_MS)
      set.etcds[1]!.resume()
    },
  }

  test('survive faults under load', { timeout: 60_000 + ROUNDS * 120_000 }, async () => {
    await set.send(0, CONFIGMAPS, { method: 'POST', body: { metadata: { name: 'counter' }, data: { value: '0' } } })
    const workload = startWorkload(set)
    for (let round = 0; round < ROUNDS; round++) {
      for (const inject of Object.values(FAULTS)) {
        await workload.acknowledged(10)
        await inject()
      }
    }
    await workload.acknowledged(20)
    await workload.stopWriting()
    const { body: list } = await set.send(0, CONFIGMAPS)
    const stored = list.items.map(nameOf).toSorted()
    await expect.poll(() => [...workload.watched].toSorted(), { timeout: 10_000 }).toEqual(stored)
    await workload.stop()

    const lists = await Promise.all([0, 1, 2].map(index => set.send(index, CONFIGMAPS)))
    const names = lists.map(({ body }) => new Set<string>(body.items.map(nameOf)))
    // Every replica shows every acknowledged write.
    for (const shown of names) expect([...workload.created].filter(name => !shown.has(name))).toEqual([])
    expect(names[1]).toEqual(names[0])
    const { data } = lists[0]!.body.items.find((item: Named) => nameOf(item) === 'counter')
    expect([...workload.patched].filter(key => !(key in data))).toEqual([])
    const value = Number(data.value)
    expect(value).toBeGreaterThanOrEqual(workload.counter.raised)
    expect(value).toBeLessThanOrEqual(workload.counter.raised + workload.counter.unknown)

    const { body: busy } = await set.send(2, '/api/v1/namespaces/busy/configmaps')
    const { body: services } = await set.send(1, '/api/v1/services')
    const left = [
      ...busy.items.map((item: Named) => `configmaps/${nameOf(item)}`),
      ...services.items.map((item: Named) => `services/${nameOf(item)}`),
    ]
    expect(left.filter(name => workload.deleted.has(name))).toEqual([])
    expect(workload.deleted.size).toBeGreaterThan(0)
    const addresses = services.items.map(({ spec }: Service) => spec.clusterIP)
    expect(new Set(addresses).size).toBe(addresses.length)
    const { body: allocated } = await set.send(2, '/apis/networking.k8s.io/v1/ipaddresses')
    const holders = new Map<string, string>(allocated.items.map((item: IpAddress) => [nameOf(item), parentOf(item)]))
    expect(services.items.filter((item: Named & Service) => holders.get(item.spec.clusterIP) !== nameOf(item))).toEqual(
      [],
    )
    const ports = services.items.flatMap(({ spec }: Service) => spec.ports.flatMap(({ nodePort }) => nodePort ?? []))
    expect(new Set(ports).size).toBe(ports.length)

    expect(workload.wrong).toEqual([])
    expect(workload.doubleLeaders).toEqual([])
    await expect.poll(() => leaders(set).then(({ length }) => length), { timeout: 10_000 }).toBe(1)
  })

  test('serve clients with one kubeconfig, whichever of them dies', { timeout: 90_000 }, async () => {
    const clients = await startOneAddress(set)
    try {
      await clients.write('before')
      await set.kill(0)
      await clients.write('killed')
      await set.start(0)
      const paused = set.replicas[1]!.process!
      paused.signal('SIGSTOP')
      await clients.knows(1, 'away')
      await clients.write('paused')
      paused.signal('SIGCONT')
      await clients.knows(1, 'ready')
      for (const proxy of set.replicas[2]!.proxies) await proxy.refuse()
      await clients.knows(2, 'away')
      await clients.write('cut-off')
      for (const proxy of set.replicas[2]!.proxies) await proxy.heal()
      await clients.knows(2, 'ready')
      const { body } = await set.send(0, CONFIGMAPS)
      const written = body.items.map(nameOf).filter((name: string) => name.startsWith('node-'))
      expect(written).toEqual(['node-before', 'node-cut-off', 'node-killed', 'node-paused'])
    } finally {
      await clients.stop()
    }
  })

  test('move the controllers when the leader dies', { timeout: 30_000 }, async () => {
    const [leader] = await leaders(set)
    // The replica of this process cannot be killed; cut off, it gives up.
    if (leader === 2) for (const proxy of set.replicas[2]!.proxies) await proxy.refuse()
    else await set.replicas[leader!]!.process!.kill()
    const others = [0, 1, 2].filter(index => index !== leader)
    await expect
      .poll(async () => (await leaders(set)).filter(index => others.includes(index)).length, { timeout: 10_000 })
      .toBe(1)
    // The controllers work: a namespace is deleted with what is in it.
    const [other] = others
    await set.send(other!, '/api/v1/namespaces', { method: 'POST', body: { metadata: { name: 'gone' } } })
    await set.send(other!, '/api/v1/namespaces/gone', { method: 'DELETE' })
    await expect
      .poll(async () => (await set.send(other!, '/api/v1/namespaces/gone')).status, { timeout: 10_000 })
      .toBe(404)
  })
})

interface Named {
  readonly metadata: { readonly name: string }
}

interface Service {
  readonly spec: { readonly clusterIP: string; readonly ports: readonly { readonly nodePort?: number }[] }
}

interface IpAddress extends Named {
  readonly spec: { readonly parentRef: { readonly name: string } }
}

const parentOf = ({ spec }: IpAddress): string => spec.parentRef.name
const nameOf = ({ metadata }: Named): string => metadata.name
