import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMetrics } from '../../base/metrics.js'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import type { Kind } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { objectAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { forResource, systemRequest } from '../../request/request.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { StorageError } from '../../storage/storage-error.js'
import type { Store } from '../../storage/store.js'
import { builtinTypes } from '../../types/type-table.js'
import { type ApiContext, createApiContext } from '../../verbs/api-context.js'
import { MADE } from '../../verbs/pipeline/prepared.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { createFrom } from '../../verbs/write/create.js'
import { remove } from '../../verbs/write/delete.js'
import { quietEnv } from '../common/controller.js'
import { startDefaultServiceCidr, syncDefaultServiceCidr } from './default-service-cidr.js'
import { portClaims } from './port-claims.js'
import { repairTimes } from './repair.js'
import { serviceAddresses } from './service-addresses.js'

const kinds = builtinKinds(builtinTypes())
const kindOf = (name: string): Kind => kinds.find(({ names }) => names.kind === name)!
const addresses = kindOf('IPAddress')
const serviceCidrs = kindOf('ServiceCIDR')
const request = systemRequest({ user: { name: 'admin', uid: '', groups: [], extra: {} }, userAgent: '' })

interface Process {
  readonly context: ApiContext
  create(name: string, spec?: ValueObject, dryRun?: boolean): Promise<ValueObject>
  delete(name: string): Promise<unknown>
}

async function start(store: Store, range = '10.0.0.0/28'): Promise<Process> {
  const context = createApiContext({ store })
  await syncDefaultServiceCidr(context, serviceCidrs, [range])
  const parts = { services: kindOf('Service'), addresses, serviceCidrs }
  const { kind, repair } = serviceAddresses(context, store, parts, { range })
  await repair()
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource: '' } as const
  return {
    context,
    async create(name, spec = {}, dryRun = false) {
      const object: ApiObject = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name },
        spec: { ports: [{ port: 80 }], ...spec },
      }
      const options = { dryRun, fieldManager: '', fieldValidation: '' } as const
      return objectAt((await createFrom(context, forResource(request, target, options), object, MADE)).value(), 'spec')
    },
    delete: name =>
      remove(context, forResource(request, { ...target, name }, { dryRun: false, ignoreStoreReadError: false })),
  }
}

const taken = async ({ context }: Process): Promise<string[]> =>
  (await context.objectStore(addresses).cache.range(addresses.keyPrefix)).entries.map(
    ({ key }) => key.split('/').at(-1)!,
  )

let store: Store
beforeEach(() => {
  store = createMemoryStore()
})

describe('processes on one store', () => {
  test('never give out the same address or port', async () => {
    const processes = [await start(store), await start(store)]
    const specs = await Promise.all(
      Array.from({ length: 12 }, (_, i) => processes[i % 2]!.create(`s-${i}`, { type: 'NodePort' })),
    )
    expect(new Set(specs.map(spec => spec['clusterIP'])).size).toBe(12)
    expect(new Set(specs.map(spec => JSON.stringify(spec['ports']))).size).toBe(12)
  })

  test('give out what another one got back', async () => {
    const [one, other] = [await start(store), await start(store)]
    await one.create('a', { clusterIP: '10.0.0.5' })
    await expect(other.create('b', { clusterIP: '10.0.0.5' })).rejects.toThrow('provided IP is already allocated')
    await one.delete('a')
    expect(await other.create('b', { clusterIP: '10.0.0.5' })).toMatchObject({ clusterIP: '10.0.0.5' })
  })
})

test('nothing stays taken for what is not stored', async () => {
  const process = await start(store)
  await process.create('tried', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] }, true)
  await expect(process.create('odd', { ports: [{ port: -1 }] })).rejects.toThrow('is invalid')
  await process.create('a')
  await expect(process.create('a')).rejects.toThrow('already exists')
  expect(await taken(process)).toHaveLength(1)
})

test('a start frees addresses that no service has, and takes those that services have', async () => {
  const before = await start(store)
  await before.create('a', { clusterIP: '10.0.0.5' })
  await before.create('b', { clusterIP: '10.0.0.6' })
  for (const key of ['/services/specs/x/b', `${addresses.keyPrefix}10.0.0.5`]) {
    await store.delete(key, (await store.get(key))!.revision)
  }
  const after = await start(store)
  expect(await taken(after)).toEqual(['10.0.0.5'])
  await expect(after.create('c', { clusterIP: '10.0.0.5' })).rejects.toThrow('provided IP is already allocated')
})

describe('repair while several processes allocate', () => {
  test('takes nothing for abandoned that a slow request may still store', () => {
    for (const requestTimeoutMs of [60_000, 600_000])
      expect(repairTimes(requestTimeoutMs).abandonedMs).toBeGreaterThan(requestTimeoutMs)
  })

  const TIMES = { intervalMs: 10, abandonedMs: 1000 }

  test('releases what a killed process has allocated, and nothing that is used or young', async () => {
    const process = await start(store)
    const { clusterIP } = await process.create('used', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] })
    const ports = portClaims(store)
    await ports.claim(30_002)
    await process.create('killed')
    // A process that was killed after it allocated and before it stored the Service.
    const { revision } = (await store.get('/services/specs/x/killed'))!
    await store.delete('/services/specs/x/killed', revision)
    const parts = { services: kindOf('Service'), addresses, serviceCidrs }
    const repairing = serviceAddresses(process.context, store, parts, { range: '10.0.0.0/28' }).startRepair(
      quietEnv(),
      TIMES,
    )
    await expect.poll(() => ports.has(30_002), { timeout: 5000 }).toBe(false)
    await expect.poll(() => taken(process)).toEqual([clusterIP])
    expect(await ports.has(30_001)).toBe(true)
    await ports.claim(30_002)
    await new Promise(resolve => setTimeout(resolve, 100))
    expect(await ports.has(30_002)).toBe(true)
    repairing.stop()
  })

  describe('whose watch is interrupted', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'performance'] }))
    afterEach(() => void vi.useRealTimers())

    test('does not take a port for abandoned that was given to another Service meanwhile', async () => {
      const watches: (() => void)[] = []
      let isCut = false
      const cut: Store = {
        ...store,
        watch(target, after, sink) {
          watches.push(() => sink.end(new StorageError('unavailable', 'cut off')))
          return store.watch(target, after, { ...sink, event: event => isCut || sink.event(event) })
        },
      }
      const process = await start(store)
      const ports = portClaims(store)
      await ports.claim(30_002)
      const parts = { services: kindOf('Service'), addresses, serviceCidrs }
      const repairing = serviceAddresses(process.context, cut, parts, { range: '10.0.0.0/28' }).startRepair(
        quietEnv(),
        TIMES,
      )
      await vi.advanceTimersByTimeAsync(900)
      isCut = true
      await ports.release(30_002)
      await ports.claim(30_002)
      // It does not see that, and then begins again, twice.
      for (let i = 0; i < 2; i++) {
        await vi.advanceTimersByTimeAsync(150)
        expect(await ports.has(30_002)).toBe(true)
        for (const end of watches.splice(0)) end()
        await vi.advanceTimersByTimeAsync(400)
        expect(await ports.has(30_002)).toBe(true)
      }
      await vi.advanceTimersByTimeAsync(1100)
      expect(await ports.has(30_002)).toBe(false)
      repairing.stop()
    })
  })
})

test('the address of a Service that another program has stored is allocated', async () => {
  const process = await start(store)
  const parts = { services: kindOf('Service'), addresses, serviceCidrs }
  const settings = { range: '10.0.0.0/28' }
  const controller = await serviceAddresses(process.context, store, parts, settings).startServiceRepair(quietEnv())
  const stored = (name: string, clusterIP: string) =>
    process.context.objectStore(parts.services).create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'x', uid: name },
      spec: { clusterIP, clusterIPs: [clusterIP] },
    })
  await stored('outside', '10.7.0.1')
  await stored('old', '10.0.0.7')
  await expect.poll(() => taken(process)).toEqual(['10.0.0.7'])
  await controller.idle()
  expect(await taken(process)).toEqual(['10.0.0.7'])
  controller.stop()
})

describe('ServiceCIDRs', () => {
  const addRange = (process: Process, name: string, ...cidrs: string[]) =>
    serverObjects(process.context).create(serviceCidrs, { metadata: { name }, spec: { cidrs } })
  const FULL = 'failed to allocate a serviceIP'

  async function full(): Promise<Process> {
    const process = await start(store, '10.0.0.0/30')
    await process.create('a')
    await process.create('b')
    await expect(process.create('c')).rejects.toThrow(FULL)
    return process
  }

  test('one that is added gives addresses when the others are full', async () => {
    const process = await full()
    await addRange(process, 'more', '10.9.0.0/24')
    expect((await process.create('c'))['clusterIP']).toMatch(/^10\.9\.0\./)
    expect((await process.create('d', { clusterIP: '10.9.0.200' }))['clusterIP']).toBe('10.9.0.200')
    await expect(process.create('e', { clusterIP: '10.9.0.255' })).rejects.toThrow('does not match the current range')
  })

  test.each([
    ['that is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }, []],
    ['that is not ready', {}, [{ type: 'Ready', status: 'False' }]],
  ])('one %s gives no addresses', async (_, meta, conditions) => {
    const process = await full()
    const object = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' }
    await process.context.objectStore(serviceCidrs).create({
      ...object,
      metadata: { name: 'more', ...meta },
      spec: { cidrs: ['10.9.0.0/24'] },
      status: { conditions },
    })
    await expect(process.create('c')).rejects.toThrow(FULL)
    await expect(process.create('d', { clusterIP: '10.9.0.9' })).rejects.toThrow('does not match the current range')
  })

  test('the one of the flags gets a second range, and keeps others than those of the flags', async () => {
    const { context } = await start(store, '10.0.0.0/30')
    const cidrs = async () =>
      objectAt((await serverObjects(context).get(serviceCidrs, '', 'kubernetes'))!, 'spec')['cidrs']
    await syncDefaultServiceCidr(context, serviceCidrs, ['10.0.0.0/30', 'fd00::/112'])
    expect(await cidrs()).toEqual(['10.0.0.0/30', 'fd00::/112'])
    await syncDefaultServiceCidr(context, serviceCidrs, ['10.1.0.0/24'])
    expect(await cidrs()).toEqual(['10.0.0.0/30', 'fd00::/112'])
  })

  test('the one of the flags is created again when it is deleted', async () => {
    const { context } = await start(store)
    const controller = await startDefaultServiceCidr(context, serviceCidrs, ['10.0.0.0/28'], quietEnv())
    await serverObjects(context).delete(serviceCidrs, '', 'kubernetes')
    const stored = () => serverObjects(context).get(serviceCidrs, '', 'kubernetes')
    await expect
      .poll(async () => objectAt((await stored()) ?? {}, 'status')['conditions'])
      .toMatchObject([
        { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes default Service CIDR is ready' },
      ])
    controller.stop()
  })
})

test('addresses and ports are counted, those in use and what became of requests for them', async () => {
  const memory = createMemoryStore()
  const context = createApiContext({ store: memory })
  await syncDefaultServiceCidr(context, serviceCidrs, ['10.0.0.0/28'])
  const metrics = createMetrics()
  const parts = { services: kindOf('Service'), addresses, serviceCidrs }
  const { kind } = serviceAddresses(context, memory, parts, { range: '10.0.0.0/28', metrics })
  const service = (name: string, spec: ValueObject): ApiObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'x' },
    spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', type: 'ClusterIP', ports: [{ port: 80 }], ...spec },
  })
  await kind.allocation!.allocate(service('a', { type: 'NodePort' }), undefined, false)
  for (const name of ['b', 'c'])
    await kind.allocation!.allocate(
      service(name, { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] }),
      undefined,
      false,
    )
  await kind.allocation!.allocate(service('d', {}), undefined, true)
  const lines = (await metrics.print()).split('\n').filter(line => !/^#|bucket|_sum/.test(line))
  expect(lines.filter(Boolean)).toEqual([
    'kube_apiserver_clusterip_allocator_allocated_ips{cidr="10.0.0.0/28"} 2',
    'kube_apiserver_clusterip_allocator_allocation_duration_seconds_count{cidr="10.0.0.0/28"} 2',
    'kube_apiserver_clusterip_allocator_allocation_errors_total{cidr="10.0.0.0/28",scope="static"} 1',
    'kube_apiserver_clusterip_allocator_allocation_total{cidr="10.0.0.0/28",scope="dynamic"} 1',
    'kube_apiserver_clusterip_allocator_allocation_total{cidr="10.0.0.0/28",scope="static"} 1',
    'kube_apiserver_clusterip_allocator_available_ips{cidr="10.0.0.0/28"} 12',
    'kube_apiserver_nodeport_allocator_allocated_ports 1',
    'kube_apiserver_nodeport_allocator_allocation_total{scope="dynamic"} 1',
    'kube_apiserver_nodeport_allocator_available_ports 2767',
  ])
})
