// The addresses of several servers on one etcd in the Endpoints and EndpointSlice of the service `kubernetes`.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLibraryOptions } from '../../src/server/options/library.js'
import type { ServingOptions } from '../../src/server/options/serving.js'
import { type Server, startServer } from '../../src/server/server.js'
import { openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { type Proxy, startProxy } from '../components/proxy.js'
import { sendRequest } from '../server/request.js'

const TOKEN = 'admin-token'
const [A, B, C] = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
const TIMES = { ttlSeconds: 1, renewMs: 200 }

describe.skipIf(etcdMissing())('servers on one etcd', () => {
  let etcd: Etcd
  let proxy: Proxy
  let a: Server
  let b: Server
  let unpublished: Server

  async function start(
    advertiseAddress: string,
    endpoint: string,
    more: Partial<ServingOptions> = {},
  ): Promise<Server> {
    const { server } = readLibraryOptions({
      storage: { etcd: [endpoint] },
      tokens: { [TOKEN]: { name: 'admin', groups: ['system:masters'] } },
    })
    const serving = { ...server.serving, advertiseAddress, endpointLeaseTimes: TIMES, ...more }
    return startServer({ ...server, serving })
  }

  beforeAll(async () => {
    etcd = await startEtcd()
    const [endpoint] = etcd.endpoints
    proxy = await startProxy({ port: Number(new URL(endpoint!).port) })
    a = await start(A, endpoint!)
    unpublished = await start(C, endpoint!, { endpointReconciler: 'none' })
    b = await start(B, `http://127.0.0.1:${proxy.port}`)
  }, 60_000)
  afterAll(async () => {
    await b?.stop()
    await unpublished?.stop()
    await a?.stop()
    await proxy?.close()
    await etcd?.stop()
  })

  const read = async (path: string) =>
    (await sendRequest({ url: a.url, ca: a.access.ca! }, path, { token: TOKEN })).body

  async function addresses(): Promise<unknown[]> {
    const { subsets } = await read('/api/v1/namespaces/default/endpoints/kubernetes')
    const { endpoints } = await read('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes')
    const sliced = (endpoints ?? []).map((endpoint: { addresses: string[] }) => endpoint.addresses[0])
    return [subsets[0].addresses.map(({ ip }: { ip: string }) => ip), sliced]
  }

  async function become(...expected: string[]): Promise<void> {
    await expect.poll(addresses, { timeout: 10_000 }).toEqual([expected, expected])
  }

  test('are published while they live, unless they are not to be', { timeout: 40_000 }, async () => {
    await become(A, B)
    await proxy.refuse()
    await become(A)
    await proxy.heal()
    await become(A, B)
    await b.stop()
    // At once, before the time of its key is over.
    expect(await addresses()).toEqual([[A], [A]])
  })

  test('keep their keys as kube-apiserver does', async () => {
    const store = await openEtcdStore({ endpoints: etcd.endpoints })
    const entry = await store.get(`/masterleases/${A}`)
    await store.close()
    const head = `k8s\0\n\x0f\n\x02v1\x12\tEndpoints`
    expect(entry!.value.toString('latin1')).toMatch(new RegExp(`^${head}[^]*${A}`))
  })
})
