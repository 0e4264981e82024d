import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SYSTEM_CLOCK } from '../../base/clock.js'
import { objectsAt } from '../../meta/values/access.js'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { quietEnv } from '../common/controller.js'
import { countedServers } from './counted-servers.js'
import { type EndpointReconciler, type KnownServers, startEndpointReconciler } from './endpoint-reconciler.js'
import { publishEndpoints, type ServerAddress } from './kubernetes-endpoints.js'
import { leasedServers, type TtlStore } from './server-leases.js'

const TIMES = { ttlSeconds: 15, renewMs: 10_000 }
const [A, B, C] = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
let world: World
let store: TtlStore

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  world = createWorld()
  store = withTtl(world.store)
  await world.createNamespace('default')
})
afterEach(async () => {
  await world.context.close()
  await world.store.close()
  vi.useRealTimers()
})

/** A store that deletes keys when their time is over. */
function withTtl(inner: World['store']): TtlStore {
  const timers = new Map<string, NodeJS.Timeout>()
  return {
    ...inner,
    async putWithTtl(key, value, seconds) {
      const before = await inner.get(key)
      await (before ? inner.update(key, value, before.revision) : inner.create(key, value))
      clearTimeout(timers.get(key))
      const expire = async () => {
        const entry = await inner.get(key)
        if (entry) await inner.delete(key, entry.revision)
      }
      timers.set(
        key,
        setTimeout(() => void expire(), seconds * 1000),
      )
    },
  }
}

const kinds = () => ({
  endpoints: world.registry.findKind('', 'Endpoints')!,
  endpointSlices: world.registry.findKind('discovery.k8s.io', 'EndpointSlice')!,
})

async function start(address: string, port = 6443, ttlStore = store): Promise<EndpointReconciler> {
  const own = { address, port }
  return startWith(own, leasedServers(ttlStore, address, TIMES.ttlSeconds))
}

async function startWith(own: ServerAddress, servers: KnownServers): Promise<EndpointReconciler> {
  const parts = { context: world.context, kinds: kinds(), servers, own, renewMs: TIMES.renewMs }
  const reconciler = startEndpointReconciler(parts, quietEnv(SYSTEM_CLOCK))
  await reconciler.idle()
  return reconciler
}

const publish = (addresses: readonly string[], own = { address: A, port: 6443 }) =>
  publishEndpoints(world.context, kinds(), async () => addresses, own)

async function published() {
  const endpoints = (await world.find(kinds().endpoints, 'default', 'kubernetes'))!
  const slice = (await world.find(kinds().endpointSlices, 'default', 'kubernetes'))!
  const subsets = objectsAt(endpoints, 'subsets')
  return {
    addresses: subsets.flatMap(subset => objectsAt(subset, 'addresses').map(({ ip }) => ip)),
    ports: subsets.flatMap(subset => objectsAt(subset, 'ports').map(({ port }) => Number(port))),
    sliced: objectsAt(slice, 'endpoints').flatMap(({ addresses }) => addresses),
    slicedPorts: objectsAt(slice, 'ports').map(({ port }) => Number(port)),
    type: slice['addressType'],
    versions: [endpoints.metadata['resourceVersion'], slice.metadata['resourceVersion']],
  }
}

describe('servers on one store', () => {
  test('are all published, in order, until their time is over', async () => {
    const b = await start(B)
    const a = await start(A)
    expect(await published()).toMatchObject({ addresses: [A, B], sliced: [A, B], ports: [6443], slicedPorts: [6443] })
    // As if it were killed: its key stays.
    b.stop()
    await vi.advanceTimersByTimeAsync(10_000)
    expect((await published()).addresses).toEqual([A, B])
    await vi.advanceTimersByTimeAsync(10_000)
    await a.idle()
    expect(await published()).toMatchObject({ addresses: [A], sliced: [A] })
    a.stop()
  })

  test('take their address away when they stop', async () => {
    const [a, b] = [await start(A), await start(B)]
    await a.withdraw()
    expect(await published()).toMatchObject({ addresses: [B], sliced: [B] })
    await b.withdraw()
    expect(await published()).toMatchObject({ addresses: [], sliced: [] })
    await vi.advanceTimersByTimeAsync(20_000)
    expect((await published()).addresses).toEqual([])
  })

  test('write nothing but their keys while nothing changes', async () => {
    const [a, b] = [await start(A), await start(B)]
    const { versions } = await published()
    await vi.advanceTimersByTimeAsync(20_000)
    expect((await published()).versions).toEqual(versions)
    a.stop()
    b.stop()
  })

  test('do not erase all addresses when the store has none', async () => {
    const empty = { ...store, range: async () => ({ revision: 1, entries: [], remaining: 0 }) }
    const a = await start(A)
    const b = await start(B, 6443, empty)
    expect((await published()).addresses).toEqual([A])
    a.stop()
    b.stop()
  })

  test('go on when a renewal failed', async () => {
    let isCut = true
    const link: TtlStore = {
      ...store,
      putWithTtl: (...write) => (isCut ? Promise.reject(new Error('cut off')) : store.putWithTtl(...write)),
    }
    const a = await start(A, 6443, link)
    expect(await world.find(kinds().endpoints, 'default', 'kubernetes')).toBeUndefined()
    isCut = false
    await vi.advanceTimersByTimeAsync(10_000)
    await a.idle()
    expect((await published()).addresses).toEqual([A])
    a.stop()
  })

  test('stop also when the store does not answer', async () => {
    const a = await start(A, 6443, { ...store, get: () => new Promise(() => {}) })
    const withdrawn = a.withdraw()
    await vi.advanceTimersByTimeAsync(2000)
    await expect(withdrawn).resolves.toBeUndefined()
  })
})

describe('servers whose number is given', () => {
  const startCounted = (address: string, count: number) =>
    startWith({ address, port: 6443 }, countedServers(address, count))

  test('add their address, and push out those that follow it when there are too many', async () => {
    const [b, a] = [await startCounted(B, 2), await startCounted(A, 2)]
    expect(await published()).toMatchObject({ addresses: [A, B], sliced: [A, B] })
    const c = await startCounted(C, 2)
    expect((await published()).addresses).toEqual([B, C])
    for (const each of [a, b, c]) each.stop()
  })

  test('come back within their time, and leave when they stop', async () => {
    const [a, b] = [await startCounted(A, 2), await startCounted(B, 2)]
    await serverObjects(world.context).change(kinds().endpoints, 'default', 'kubernetes', old => ({
      ...old,
      subsets: [],
    }))
    await vi.advanceTimersByTimeAsync(10_000)
    await Promise.all([a.idle(), b.idle()])
    expect((await published()).addresses).toEqual([A, B])
    await a.withdraw()
    expect(await published()).toMatchObject({ addresses: [B], sliced: [B] })
    b.stop()
  })
})

describe('the published objects', () => {
  test('have the port of a server that is alone, and keep theirs among several', async () => {
    await publish([A], { address: A, port: 6443 })
    await publish([A, B], { address: B, port: 7443 })
    expect(await published()).toMatchObject({ addresses: [A, B], ports: [6443], slicedPorts: [6443] })
    // It is going, and leaves the other one its port.
    await publish([A], { address: B, port: 7443 })
    expect(await published()).toMatchObject({ addresses: [A], ports: [6443], slicedPorts: [6443] })
    await publish([B], { address: B, port: 7443 })
    expect(await published()).toMatchObject({ addresses: [B], ports: [7443], slicedPorts: [7443] })
  })

  test('get addresses of another family, and a slice has only one', async () => {
    await publish([A])
    await publish(['2001:db8::1'])
    expect(await published()).toMatchObject({ type: 'IPv6', sliced: ['2001:db8::1'] })
    await publish([A, '2001:db8::1'])
    expect(await published()).toMatchObject({ type: 'IPv4', addresses: [A, '2001:db8::1'], sliced: [A] })
  })

  test('are put right when another client has changed them', async () => {
    await publish([A])
    const objects = serverObjects(world.context)
    await objects.change(kinds().endpoints, 'default', 'kubernetes', old => ({ ...old, subsets: [] }))
    await objects.delete(kinds().endpointSlices, 'default', 'kubernetes')
    await publish([A])
    expect(await published()).toMatchObject({ addresses: [A], sliced: [A], ports: [6443], slicedPorts: [6443] })
  })

  test('never go back to an older list of addresses', async () => {
    await publish([A, C])
    let reads = 0
    const racing = async (): Promise<string[]> => {
      if (++reads > 1) return [A, B]
      // Another server comes and publishes, after this one has read the list.
      await publish([A, B])
      return [A]
    }
    await publishEndpoints(world.context, kinds(), racing, { address: A, port: 6443 })
    expect(await published()).toMatchObject({ addresses: [A, B], sliced: [A, B] })
    expect(reads).toBe(2)
  })
})
