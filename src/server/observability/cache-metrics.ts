// Metrics of the watch caches and of lists, by kube-apiserver's names. The caches count in plain numbers, which are read for
// each page.
import type { MetricsRegistry } from '../../base/metrics.js'
import type { ObjectStores } from '../../objects/object-stores.js'

const LABELS = ['group', 'resource'] as const
/** Of revisions, the last digits are shown, because a page has no whole numbers that are longer. */
const SHOWN_DIGITS = 1e15

export function registerCacheMetrics(metrics: MetricsRegistry, objects: ObjectStores): void {
  const counter = (name: string, help: string) => metrics.setCounter(name, help, LABELS)
  const received = counter(
    'apiserver_watch_cache_events_received_total',
    'Counter of events received in watch cache broken by resource type.',
  )
  const dispatched = counter(
    'apiserver_watch_cache_events_dispatched_total',
    'Counter of events dispatched in watch cache broken by resource type.',
  )
  const starts = counter(
    'apiserver_watch_cache_initializations_total',
    'Counter of watch cache initializations broken by resource type.',
  )
  const events = counter('apiserver_storage_events_received_total', 'Number of storage events received split by kind.')
  const revision = metrics.gauge(
    'apiserver_watch_cache_resource_version',
    'Current resource version of watch cache broken by resource type. This is truncated to the 15 least significant digits.',
    LABELS,
  )
  const capacity = metrics.gauge(
    'watch_cache_capacity',
    'Total capacity of watch cache broken by resource type.',
    LABELS,
  )
  const list = (name: string, help: string) => metrics.setCounter(name, help, ['group', 'index', 'resource'] as const)
  const lists = list('apiserver_cache_list_total', 'Number of LIST requests served from watch cache')
  const fetched = list(
    'apiserver_cache_list_fetched_objects_total',
    'Number of objects read from watch cache in the course of serving a LIST request',
  )
  const returned = list(
    'apiserver_cache_list_returned_objects_total',
    'Number of objects returned for a LIST request from watch cache',
  )
  metrics.onCollect(() => {
    revision.reset()
    capacity.reset()
    for (const [{ group, names }, { cache, listCounts }] of objects.all()) {
      const resource = names.plural
      const { counts, seen } = cache
      if (counts.starts > 0) {
        starts.with(group, resource).set(counts.starts)
        for (const family of [received, dispatched, events]) family.with(group, resource).set(counts.events)
      }
      if (seen) {
        revision.with(group, resource).set(seen.revision % SHOWN_DIGITS)
        capacity.with(group, resource).set(seen.capacity)
      }
      if (listCounts.lists === 0) continue
      lists.with(group, '', resource).set(listCounts.lists)
      fetched.with(group, '', resource).set(counts.fetched)
      returned.with(group, '', resource).set(listCounts.returned)
    }
  })
}
