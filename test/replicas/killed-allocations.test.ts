// A replica that is killed while it creates and deletes Services leaves addresses and node ports behind, which belong to no
// Service. The controllers of another replica release them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLibraryOptions } from '../../src/server/options/library.js'
import { type Server, startServer } from '../../src/server/server.js'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { type Proxy, startProxy } from '../components/proxy.js'
import { sendRequest } from '../server/request.js'

const TOKEN = 'admin-token'
const SERVICES = '/api/v1/namespaces/default/services'
const ADDRESSES = '/apis/networking.k8s.io/v1/ipaddresses'
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const RELEASE = { intervalMs: 100, abandonedMs: 4000 }
const PORTS = [30_001, 30_002, 30_003, 30_004, 30_005, 30_006]

describe.skipIf(etcdMissing())('addresses and node ports', () => {
  let etcd: Etcd
  let hanging: Proxy
  let kept: Server
  let killed: BinnacleProcess

  beforeAll(async () => {
    etcd = await startEtcd()
    const [endpoint] = etcd.endpoints
    // A webhook that never answers.
    hanging = await startProxy({ port: Number(new URL(endpoint!).port) })
    hanging.swallow()
    const { server } = readLibraryOptions({
      storage: { etcd: [endpoint!] },
      tokens: { [TOKEN]: { name: 'admin', groups: ['system:masters'] } },
    })
    kept = await startServer({ ...server, controllers: { ...server.controllers, repair: RELEASE } })
    killed = await startBinnacleProcess(`--etcd-servers=${endpoint}`)
  }, 60_000)
  afterAll(async () => {
    await killed?.kill()
    await kept?.stop()
    await hanging?.close()
    await etcd?.stop()
  })

  const send = (path: string, method = 'GET', body?: unknown) =>
    sendRequest({ url: kept.url, ca: kept.access.ca! }, path, { token: TOKEN, method, body })
  const sendToKilled = (path: string, method: string, body?: unknown) =>
    sendRequest({ url: killed.url, ca: killed.ca }, path, { token: TOKEN, method, body })
  const service = (name: string, nodePort?: number) => ({
    metadata: { name },
    spec: { type: 'NodePort', ports: [{ port: 80, nodePort }] },
  })

  const webhook = (port: number) => ({
    metadata: { name: 'hanging' },
    webhooks: [
      {
        name: 'hanging.example.com',
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['services'] }],
        clientConfig: { url: `https://127.0.0.1:${port}` },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  })

  /** The addresses that are allocated, and those that Services have. */
  async function addresses(): Promise<{ allocated: string[]; used: string[] }> {
    const [allocated, services] = await Promise.all([send(ADDRESSES), send('/api/v1/services')])
    return {
      allocated: allocated.body.items.map(({ metadata }: Named) => metadata.name).toSorted(),
      used: services.body.items.map(({ spec }: Service) => spec.clusterIP).toSorted(),
    }
  }

  test('of a replica that was killed in the middle of its work are released', { timeout: 60_000 }, async () => {
    for (const port of PORTS)
      expect(await sendToKilled(SERVICES, 'POST', service(`s${port}`, port))).toMatchObject({ status: 201 })
    await sendToKilled(WEBHOOKS, 'POST', webhook(hanging.port))
    const unanswered: Promise<unknown>[] = []
    const begin = (path: string, method: string, body?: unknown): void =>
      void unanswered.push(sendToKilled(path, method, body).catch(() => undefined))
    // A Service gets its addresses and ports before the webhook is called, and is stored after it.
    for (let i = 0; hanging.accepted < 3; i++) {
      begin(SERVICES, 'POST', service(`new${i}`))
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    for (const port of PORTS.slice(0, 3)) begin(`${SERVICES}/s${port}`, 'DELETE')
    await killed.kill()
    await Promise.all(unanswered)
    const { allocated, used } = await addresses()
    expect(allocated.length).toBeGreaterThan(used.length)

    const atLast = await addresses()
    await expect.poll(async () => (await addresses()).allocated, { timeout: 20_000 }).toEqual(atLast.used)
    const left = (await send(SERVICES)).body.items as (Named & Service)[]
    const taken = new Set(left.flatMap(({ spec }) => (spec.ports ?? []).map(({ nodePort }) => nodePort)))
    await send(`${WEBHOOKS}/hanging`, 'DELETE')
    // Those that are used are not given away, and the others are free again.
    for (const port of PORTS) {
      const expected = taken.has(port) ? 422 : 201
      await expect
        .poll(async () => (await send(SERVICES, 'POST', service(`again${port}`, port))).status, { timeout: 10_000 })
        .toBe(expected)
    }
  })
})

interface Named {
  readonly metadata: { readonly name: string }
}

interface Service {
  readonly spec: { readonly clusterIP: string; readonly ports?: readonly { readonly nodePort?: number }[] }
}
