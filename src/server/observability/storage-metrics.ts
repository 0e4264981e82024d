// Metrics of the storage: how many objects there are, how much they take, and how long etcd takes to answer.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Histogram, MetricsRegistry } from '../../base/metrics.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import type { StorageOptions } from '../../storage/open-store.js'
import { StorageError, type StorageErrorCode } from '../../storage/storage-error.js'
import type { Store } from '../../storage/store.js'

/** How long counts of objects in etcd are kept: counting asks etcd once for each resource. */
const COUNT_MS = 60_000

export function registerStorageMetrics(
  metrics: MetricsRegistry,
  store: Store,
  registry: Registry,
  storage: StorageOptions,
): void {
  const revision = metrics.gauge('binnacle_storage_revision', 'The revision of the latest write.', [])
  metrics.onCollect(async () => revision.with().set(await store.revision()))
  countObjects(metrics, store, registry)
  const health = metrics
    .gauge('kubernetes_healthcheck', 'This metric records the result of a single healthcheck.', ['name', 'type'])
    .with('etcd', 'readyz')
  metrics.onCollect(() =>
    store.check().then(
      () => health.set(1),
      () => health.set(0),
    ),
  )
  const sizeOf = storage.kind === 'lmdb' ? () => bytesIn(storage.directory) : store.size
  if (!sizeOf) return
  const size = metrics.gauge(
    'apiserver_storage_size_bytes',
    'Size of the storage database file physically allocated in bytes.',
    ['storage_cluster_id'],
  )
  const total = metrics.gauge(
    'apiserver_storage_db_total_size_in_bytes',
    'Total size of the storage database file physically allocated in bytes.',
    ['endpoint'],
  )
  const endpoint = storage.kind === 'etcd' ? (storage.endpoints[0] ?? '') : storage.kind
  metrics.onCollect(async () => {
    const bytes = await sizeOf()
    size.with('etcd-0').set(bytes)
    total.with(endpoint).set(bytes)
  })
}

function countObjects(metrics: MetricsRegistry, store: Store, registry: Registry): void {
  const byName = metrics.gauge(
    'apiserver_storage_objects',
    'Number of stored objects at the time of last check split by kind.',
    ['resource'],
  )
  const byGroup = metrics.gauge(
    'apiserver_resource_objects',
    'Number of stored objects at the time of last check split by kind.',
    ['group', 'resource'],
  )
  let countedAt = Number.NEGATIVE_INFINITY
  metrics.onCollect(async () => {
    if (!store.embedded && performance.now() - countedAt < COUNT_MS) return
    countedAt = performance.now()
    const counts: (readonly [Kind, number])[] = []
    for (const kind of registry.all()) {
      if (kind.computed) continue
      const { entries, remaining } = await store.range(kind.keyPrefix, { limit: 1, at: 'any' })
      counts.push([kind, entries.length + remaining])
    }
    // All at once, so that a page that is printed meanwhile is complete.
    byName.reset()
    byGroup.reset()
    for (const [{ group, names }, count] of counts) {
      byName.with(group === '' ? names.plural : `${names.plural}.${group}`).set(count)
      byGroup.with(group, names.plural).set(count)
    }
  })
}

async function bytesIn(directory: string): Promise<number> {
  const names = await readdir(directory)
  const sizes = await Promise.all(names.map(async name => (await stat(join(directory, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

const ETCD_BUCKETS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]

/** Measures how long the requests to etcd take. The embedded stores are not measured: they answer from memory. */
export function measureStore(store: Store, metrics: MetricsRegistry, registry: Registry): Store {
  if (store.embedded) return store
  const labels = ['operation', 'group', 'resource'] as const
  const latency = metrics.histogram(
    'etcd_request_duration_seconds',
    'Etcd request latency in seconds for each operation and object type.',
    labels,
    ETCD_BUCKETS,
  )
  const total = metrics.counter(
    'etcd_requests_total',
    'Etcd request counts for each operation and object type.',
    labels,
  )
  const errors = metrics.counter(
    'etcd_request_errors_total',
    'Etcd failed request counts for each operation and object type.',
    labels,
  )
  const countList = countLists(metrics)

  async function measure<T>(operation: string, key: string, run: () => Promise<T>): Promise<T> {
    const kind = registry.ofKey(key)
    const names = [operation, kind?.group ?? '', kind?.names.plural ?? ''] as const
    const histogram: Histogram = latency.with(...names)
    const began = performance.now()
    total.with(...names).inc()
    try {
      return await run()
    } catch (error) {
      if (isFault(error)) errors.with(...names).inc()
      throw error
    } finally {
      histogram.observe((performance.now() - began) / 1000)
    }
  }

  return {
    ...store,
    get: (key, at) => measure('get', key, () => store.get(key, at)),
    async range(prefix, options) {
      const page = await measure('list', prefix, () => store.range(prefix, options))
      countList(registry.ofKey(prefix), page.entries.length)
      return page
    },
    create: (key, value, guard) => measure('create', key, () => store.create(key, value, guard)),
    update: (key, value, expected, guard) => measure('update', key, () => store.update(key, value, expected, guard)),
    delete: (key, expected) => measure('delete', key, () => store.delete(key, expected)),
    ...(store.putWithTtl && {
      putWithTtl: (key: string, value: Uint8Array, seconds: number) =>
        measure('update', key, () => store.putWithTtl!(key, value, seconds)),
    }),
  }
}

/** All that is read is passed on: selectors are answered above the store. */
function countLists(metrics: MetricsRegistry): (kind: Kind | undefined, entries: number) => void {
  const counter = (name: string, help: string) => metrics.counter(name, help, ['group', 'resource'] as const)
  const lists = counter('apiserver_storage_list_total', 'Number of LIST requests served from storage')
  const objects = [
    counter(
      'apiserver_storage_list_fetched_objects_total',
      'Number of objects read from storage in the course of serving a LIST request',
    ),
    counter(
      'apiserver_storage_list_evaluated_objects_total',
      'Number of objects tested in the course of serving a LIST request from storage',
    ),
    counter(
      'apiserver_storage_list_returned_objects_total',
      'Number of objects returned for a LIST request from storage',
    ),
  ]
  return (kind, entries) => {
    const names = [kind?.group ?? '', kind?.names.plural ?? ''] as const
    lists.with(...names).inc()
    for (const family of objects) family.with(...names).inc(entries)
  }
}

/** Errors of etcd, and not of what was requested of it, such as a revision that was compacted. */
const FAULTS: ReadonlySet<unknown> = new Set<StorageErrorCode>([
  'unavailable',
  'outcome-unknown',
  'no-space',
  'corrupt',
])
const isFault = (error: unknown): boolean => !(error instanceof StorageError) || FAULTS.has(error.code)
