// The data of a cluster in etcd: values as kube-apiserver v1.36 wrote them (protobuf, CBOR, and JSON with its members in
// another order), and what it answered for them. Then the other direction: what this server writes there.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'
import { openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import type { Store } from '../../src/storage/store.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { sendRequest } from '../server/request.js'

interface StoredObject {
  readonly key: string
  /** In base64. */
  readonly value: string
  readonly path?: string
  readonly object?: object
}

const DATA = JSON.parse(
  readFileSync(new URL('./cluster-data.fixture.json', import.meta.url), 'utf8'),
) as readonly StoredObject[]

describe.skipIf(etcdMissing())('on the etcd of a cluster', () => {
  let etcd: Etcd
  let raw: Store
  let server: Binnacle

  beforeAll(async () => {
    etcd = await startEtcd()
    raw = await openEtcdStore({ endpoints: etcd.endpoints, prefix: '/registry' })
    for (const { key, value } of DATA) await raw.create(key, Buffer.from(value, 'base64'))
    server = await startBinnacle({ storage: { etcd: etcd.endpoints }, controllers: [] })
  }, 60_000)

  afterAll(async () => {
    await server?.stop()
    await raw?.close()
    await etcd?.stop()
  })

  const send = (path: string, method = 'GET', body?: object) =>
    sendRequest(server, path, { token: server.token, method, ...(body && { body }) })

  test.each(DATA.filter(({ path }) => path !== undefined))('$path is read as kube-apiserver reads it', async each => {
    const { body } = await send(each.path!)
    delete body.metadata.resourceVersion
    expect(body).toEqual(each.object)
  })

  test('node ports that were in use there stay in use', async () => {
    const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 32211 }] }
    const { body } = await send('/api/v1/namespaces/default/services', 'POST', { metadata: { name: 'other' }, spec })
    expect(body.message).toContain('provided port is already allocated')
  })

  test('built-in objects are written as protobuf, definitions and custom objects as JSON', async () => {
    await send('/api/v1/namespaces/default/configmaps', 'POST', { metadata: { name: 'a' }, data: { k: 'v' } })
    const widgets = '/apis/etcd.example.com/v1/namespaces/default/widgets'
    const widget = { apiVersion: 'etcd.example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: {} }
    expect((await send(widgets, 'POST', widget)).status).toBe(201)
    // Protobuf leaves out the kind of its claims, which is filled in when it is read.
    const set = {
      metadata: { name: 'a' },
      spec: {
        serviceName: 'a',
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        volumeClaimTemplates: [
          {
            metadata: { name: 'd' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    }
    expect((await send('/apis/apps/v1/namespaces/default/statefulsets', 'POST', set)).status).toBe(201)
    const begins = async (key: string) => (await raw.get(key))?.value.toString('latin1', 0, 4)
    expect(await begins('/configmaps/default/a')).toBe('k8s\0')
    expect(await begins('/statefulsets/default/a')).toBe('k8s\0')
    expect(await begins('/etcd.example.com/widgets/default/a')).toBe('{"ap')
    expect((await send('/api/v1/namespaces/default/configmaps/a')).body.data).toEqual({ k: 'v' })
  })
})
