// Metrics of requests, by kube-apiserver's names, labels and buckets, so that dashboards made for it work. Counting a
// request costs one look-up and two additions.
import type { Counter, Histogram, MetricsRegistry } from '../../base/metrics.js'
import type { Registry } from '../../kinds/registry.js'
import type { RequestInfo } from '../../request/request-info.js'

export interface RequestMetrics {
  onRequestEnd(request: CountedRequest, code: number, seconds: number): void
  onDeprecated(info: RequestInfo): void
}

export interface CountedRequest {
  readonly info: RequestInfo
  readonly exchange: { readonly method: string; readonly query: string; readonly headers: Headers }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The requests that are served at the moment. */
export interface Load {
  readonly load: { readonly reading: number; readonly mutating: number }
  openWatches(): Iterable<RequestInfo>
}

const COMPONENT = 'apiserver'
const LATENCY_BUCKETS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]

export function createRequestMetrics(
  metrics: MetricsRegistry,
  registry: Registry,
  current: () => Load,
): RequestMetrics {
  const total = metrics.counter(
    'apiserver_request_total',
    'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
    ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component', 'code'],
  )
  const latencies = metrics.histogram(
    'apiserver_request_duration_seconds',
    'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
    ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'],
    LATENCY_BUCKETS,
  )
  const deprecated = metrics.gauge(
    'apiserver_requested_deprecated_apis',
    'Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.',
    ['group', 'version', 'resource', 'subresource', 'removed_release'],
  )
  countLoad(metrics, registry, current)
  /** By resource. One resource has few series, and comparing their labels is faster than building a key. */
  const series = new Map<string, Series[]>()

  function seriesOf(labels: RequestLabels): Series {
    let ofResource = series.get(labels.resource)
    if (!ofResource) series.set(labels.resource, (ofResource = []))
    for (const each of ofResource) if (isSame(each.labels, labels)) return each
    const { verb, dryRun, group, version, resource, subresource, scope } = labels
    const created: Series = {
      labels,
      counters: new Map(),
      count: code => total.with(verb, dryRun, group, version, resource, subresource, scope, COMPONENT, String(code)),
      latency: latencies.with(verb, dryRun, group, version, resource, subresource, scope, COMPONENT),
    }
    ofResource.push(created)
    return created
  }

  return {
    onRequestEnd({ info, exchange }, code, seconds) {
      const found = seriesOf(labelsOf(info, exchange, registry))
      let counter = found.counters.get(code)
      if (!counter) found.counters.set(code, (counter = found.count(code)))
      counter.inc()
      found.latency.observe(seconds)
    },
    onDeprecated(info) {
      const { group, version, resource } = info
      deprecated.with(group, version, resource, knownSubresource(info), '').set(1)
    },
  }
}

interface RequestLabels {
  readonly verb: string
  readonly dryRun: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly scope: string
}

interface Series {
  readonly labels: RequestLabels
  readonly counters: Map<number, Counter>
  count(code: number): Counter
  readonly latency: Histogram
}

const isSame = (a: RequestLabels, b: RequestLabels): boolean =>
  a.verb === b.verb &&
  a.group === b.group &&
  a.version === b.version &&
  a.subresource === b.subresource &&
  a.scope === b.scope &&
  a.dryRun === b.dryRun

/** Only names of served resources become labels: a client can invent any number of others. */
function labelsOf(info: RequestInfo, exchange: CountedRequest['exchange'], registry: Registry): RequestLabels {
  const scope = scopeOf(info)
  const isServed = info.isResource && registry.find(info.group, info.version, info.resource) !== undefined
  return {
    verb: verbOf(info, exchange, scope),
    dryRun: dryRunOf(info, exchange.query),
    group: isServed ? info.group : '',
    version: isServed ? info.version : '',
    resource: isServed ? info.resource : '',
    subresource: isServed ? knownSubresource(info) : knownPath(info),
    scope: isServed ? scope : '',
  }
}

function scopeOf({ isResource, verb, namespace, name }: RequestInfo): string {
  if (!isResource) return ''
  if (name !== '' || verb === 'create') return 'resource'
  return namespace === '' ? 'cluster' : 'namespace'
}

const METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** As kube-apiserver reports it: the method, but LIST, WATCH and APPLY apart. DELETE of a collection is seen by its scope. */
function verbOf({ verb }: RequestInfo, { method, headers }: CountedRequest['exchange'], scope: string): string {
  if (verb === 'watch') return 'WATCH'
  if (method === 'GET' || method === 'HEAD') return scope === '' || scope === 'resource' ? 'GET' : 'LIST'
  if (method === 'PATCH' && headers['content-type'] === 'application/apply-patch+yaml') return 'APPLY'
  return METHODS.has(method) ? method : 'other'
}

function dryRunOf({ query }: RequestInfo, text: string): string {
  if (!text.includes('dryRun')) return ''
  const values = new Set(query.getAll('dryRun'))
  if (values.size === 0) return ''
  return values.size === 1 && values.has('All') ? 'All' : 'invalid'
}

const SUBRESOURCES = new Set([
  'status',
  'scale',
  'finalize',
  'approval',
  'binding',
  'ephemeralcontainers',
  'eviction',
  'resize',
  'token',
])

export const knownSubresource = ({ subresource }: { readonly subresource: string }): string =>
  SUBRESOURCES.has(subresource) ? subresource : ''

const PATHS = new Set(['/healthz', '/livez', '/readyz', '/metrics', '/version', '/openapi/v2', '/openapi/v3'])

const knownPath = ({ path }: RequestInfo): string => (PATHS.has(path) ? path : '')

function countLoad(metrics: MetricsRegistry, registry: Registry, current: () => Load): void {
  const inFlight = metrics.gauge(
    'apiserver_current_inflight_requests',
    'Number of requests that are served at the moment, watches excepted, per request kind.',
    ['request_kind'],
  )
  const longRunning = metrics.gauge(
    'apiserver_longrunning_requests',
    'Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component.',
    ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'],
  )
  metrics.onCollect(() => {
    const { load, openWatches } = current()
    const { reading, mutating } = load
    inFlight.with('mutating').set(mutating)
    inFlight.with('readOnly').set(reading)
    longRunning.reset()
    for (const info of openWatches()) {
      const { group, version, resource } = info
      if (!registry.find(group, version, resource)) continue
      longRunning.with('WATCH', group, version, resource, '', scopeOf(info), COMPONENT).inc()
    }
  })
}
