import { expect, test } from 'vitest'
import { createMetrics } from '../../base/metrics.js'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import { createRegistry } from '../../kinds/registry.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { StorageError } from '../../storage/storage-error.js'
import { measureStore, registerStorageMetrics } from './storage-metrics.js'

const KIND = widgetKind({})

function setUp(embedded: boolean) {
  const registry = createRegistry()
  registry.put(KIND)
  const metrics = createMetrics()
  const store = { ...createMemoryStore(), embedded }
  return { metrics, store, measured: measureStore(store, metrics, registry), registry }
}

test('requests to etcd are timed and counted by operation and resource', async () => {
  const { metrics, measured, store } = setUp(false)
  await measured.create(`${KIND.keyPrefix}a/b`, Buffer.from('{}'))
  await measured.get(`${KIND.keyPrefix}a/b`)
  await measured.get('/elsewhere/x')
  // The request is wrong, and not etcd.
  await expect(measured.range(KIND.keyPrefix, { at: { exactly: 99 } })).rejects.toThrow('99')
  store.delete = () => Promise.reject(new StorageError('unavailable', 'no leader'))
  await expect(measured.delete(`${KIND.keyPrefix}a/b`, 1)).rejects.toThrow('no leader')
  const page = await metrics.print()
  const labels = (operation: string) => `group="${KIND.group}",operation="${operation}",resource="${KIND.names.plural}"`
  expect(page).toMatch(`etcd_requests_total{${labels('create')}} 1`)
  expect(page).toMatch(`etcd_request_duration_seconds_count{${labels('get')}} 1`)
  expect(page).toMatch('etcd_requests_total{group="",operation="get",resource=""} 1')
  expect(page).toMatch(`etcd_request_errors_total{${labels('delete')}} 1`)
  expect(page).not.toMatch(`etcd_request_errors_total{${labels('list')}}`)
})

test('an embedded store is not measured, and its objects are counted', async () => {
  const { metrics, measured, store, registry } = setUp(true)
  expect(measured).toBe(store)
  registerStorageMetrics(metrics, store, registry, { kind: 'memory' })
  await store.create(`${KIND.keyPrefix}a/b`, Buffer.from('{}'))
  await store.create(`${KIND.keyPrefix}a/c`, Buffer.from('{}'))
  const page = await metrics.print()
  expect(page).toMatch(`apiserver_storage_objects{resource="${KIND.names.plural}.${KIND.group}"} 2`)
  expect(page).toMatch(`apiserver_resource_objects{group="${KIND.group}",resource="${KIND.names.plural}"} 2`)
  expect(page).toMatch(/binnacle_storage_revision [1-9]/)
  expect(page).toMatch('kubernetes_healthcheck{name="etcd",type="readyz"} 1')
  await store.close()
  expect(await metrics.print()).toMatch('kubernetes_healthcheck{name="etcd",type="readyz"} 0')
})
