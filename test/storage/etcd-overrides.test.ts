// A server whose events are in an etcd of their own (`--etcd-servers-overrides`).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { type Response, sendRequest } from '../server/request.js'

const EVENTS = '/api/v1/namespaces/default/events'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const eventNamed = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
})

describe.skipIf(etcdMissing())('--etcd-servers-overrides', () => {
  let main: Etcd
  let other: Etcd
  let server: BinnacleProcess

  beforeAll(async () => {
    ;[main, other] = await Promise.all([startEtcd(), startEtcd()])
    server = await startBinnacleProcess(
      `--etcd-servers=${main.endpoints.join(',')}`,
      `--etcd-servers-overrides=/events#${other.endpoints.join(';')}`,
    )
  }, 60_000)
  afterAll(async () => {
    await server?.kill()
    await Promise.all([main?.stop(), other?.stop()])
  })

  const send = (method: string, path: string, body?: unknown): Promise<Response> =>
    sendRequest(server, path, { method, token: 'admin-token', body })

  const keysIn = async (etcd: Etcd, prefix: string): Promise<number> => {
    const store = await openEtcdStore({ endpoints: etcd.endpoints, historyMs: 0 })
    try {
      return (await store.range(prefix)).entries.length
    } finally {
      await store.close()
    }
  }

  test('events are written there, everything else is not, and each has revisions of its own', async () => {
    for (const name of ['a', 'b']) expect((await send('POST', CONFIGMAPS, { metadata: { name } })).status).toBe(201)
    const created = await send('POST', EVENTS, eventNamed('a'))
    expect(created.status).toBe(201)
    expect(await keysIn(other, '/events/')).toBe(1)
    expect(await keysIn(main, '/events/')).toBe(0)
    expect(await keysIn(other, '/configmaps/')).toBe(0)

    const list = await send('GET', `${EVENTS}?resourceVersion=0`)
    expect(list.body).toMatchObject({ metadata: { resourceVersion: created.body.metadata.resourceVersion } })
    expect((await send('GET', EVENTS)).body.items).toHaveLength(1)
    expect((await send('DELETE', `${EVENTS}/a`)).status).toBe(200)
    expect((await send('GET', EVENTS)).body.items).toHaveLength(0)
  })

  test('its health is a check of the group etcd', async () => {
    const page = async (query: string): Promise<string> => (await send('GET', `/healthz?verbose&${query}`)).text
    expect(await page('')).toContain('[+]etcd-override-0 ok')
    expect(await page('exclude=etcd')).toContain('[+]etcd-override-0 excluded with etcd: ok')
    expect(await page('exclude=etcd-override-0')).toContain('[+]etcd ok')
    expect((await send('GET', '/readyz/etcd-override-readiness-0')).text).toBe('ok')
  })
})
