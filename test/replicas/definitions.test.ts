// A definition is deleted and created again with another schema at one replica, while another, which is cut off from etcd
// meanwhile, stores objects of it: what is stored in the end was checked by the definition that there is.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLibraryOptions } from '../../src/server/options/library.js'
import { type Server, startServer } from '../../src/server/server.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { type Proxy, startProxy } from '../components/proxy.js'
import { sendRequest } from '../server/request.js'

const TOKEN = 'admin-token'
const ROUNDS = Number(process.env['REPLICA_ROUNDS'] ?? 2)
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'

/** Objects of it have this round. */
const definition = (round: number) => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { round: { type: 'integer', enum: [round] } } } },
      },
    ],
  },
})

describe.skipIf(etcdMissing())('a definition that is deleted and created again', () => {
  let etcd: Etcd
  let proxy: Proxy
  const servers: Server[] = []

  beforeAll(async () => {
    etcd = await startEtcd()
    const tokens = { [TOKEN]: { name: 'admin', groups: ['system:masters'] } }
    const [endpoint] = etcd.endpoints
    proxy = await startProxy({ port: Number(new URL(endpoint!).port) })
    for (const url of [endpoint!, `http://127.0.0.1:${proxy.port}`])
      servers.push(await startServer(readLibraryOptions({ storage: { etcd: [url] }, tokens }).server))
  }, 60_000)
  afterAll(async () => {
    for (const server of servers) await server.stop()
    await proxy?.close()
    await etcd?.stop()
  })

  const send = (index: number, path: string, method = 'GET', body?: unknown) =>
    sendRequest({ url: servers[index]!.url, ca: servers[index]!.access.ca! }, path, { token: TOKEN, method, body })

  test('decides what another replica stores', { timeout: 60_000 + ROUNDS * 10_000 }, async () => {
    const progress = { isOver: false, round: 0 }
    const wrong: string[] = []
    const stored: number[] = Array.from({ length: ROUNDS + 1 }, () => 0)
    const write = async (client: number): Promise<void> => {
      for (let i = 0; !progress.isOver; i++) {
        // Of the definition that there is, and of the one before or behind it.
        const of = Math.max(1, progress.round + (i % 3) - 1)
        const { status, text } = await send(1, WIDGETS, 'POST', {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: { name: `w-${client}-${i}` },
          round: of,
        })
        if (status === 201 && of <= ROUNDS) stored[of]!++
        // 403 and 404 while the definition goes and is gone, 503 and 504 without etcd.
        if (![201, 403, 404, 409, 422, 429, 503, 504].includes(status)) wrong.push(`${status} ${text}`)
      }
    }
    const writing = [0, 1, 2].map(write)
    try {
      for (let next = 1; next <= ROUNDS; next++) {
        expect(await send(0, DEFINITIONS, 'POST', definition(next))).toMatchObject({ status: 201 })
        progress.round = next
        await proxy.heal()
        await expect.poll(() => stored[next], { timeout: 15_000 }).toBeGreaterThan(5)
        for (const index of [0, 1]) {
          const { body } = await send(index, WIDGETS)
          expect(new Set(body.items.map((item: { round: number }) => item.round))).toEqual(new Set([next]))
        }
        if (next === ROUNDS) break
        await proxy.refuse()
        await send(0, `${DEFINITIONS}/widgets.example.com`, 'DELETE')
        await expect
          .poll(async () => (await send(0, `${DEFINITIONS}/widgets.example.com`)).status, { timeout: 15_000 })
          .toBe(404)
      }
    } finally {
      progress.isOver = true
      await Promise.all(writing)
    }
    expect(wrong).toEqual([])
  })
})
