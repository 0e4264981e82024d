// Metrics of requests, by kube-apiserver's names, labels and buckets, so that dashboards made for it work. Counting a
// request costs one look-up and two additions.

import { once } from '../../base/memo.js'
import type { Counter, Histogram, MetricsRegistry } from '../../base/metrics.js'
import type { WatchObserver } from '../../http/handler.js'
import type { Registry } from '../../kinds/registry.js'
import type { RequestInfo } from '../../request/request-info.js'
import { NO_WAITS, outsideOf, type Waits } from '../../request/waits.js'

export interface RequestMetrics {
  onRequestEnd(request: CountedRequest, code: number, seconds: number): void
  onDeprecated(info: RequestInfo): void
  /** Counts the events of a watch. */
  onWatch(info: RequestInfo): WatchObserver
}

export interface CountedRequest {
  readonly info: RequestInfo
  readonly exchange: { readonly method: string; readonly query: string; readonly headers: Headers }
  /**
   * Only requests that this server serves are counted: a client can invent any number of names. Those that are passed on are
   * counted by the extension server, as with kube-apiserver.
   */
  readonly isRouted: boolean
  /** With which code the server ended the request to protect itself. */
  readonly termination?: number | undefined
  /** Undefined before the request is authenticated. */
  readonly user?: { readonly name: string } | undefined
  readonly bodyBytes: number | undefined
  readonly reply: { readonly bytes: number }
  readonly waits?: Waits
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The requests that are served at the moment. */
export interface Load {
  readonly load: { readonly reading: number; readonly mutating: number }
  openWatches(): Iterable<RequestInfo>
}

const COMPONENT = 'apiserver'
/** As which the server calls itself. */
const OWN_USER = 'system:apiserver'
const SLI_BUCKETS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const LATENCY_BUCKETS = [0.005, 0.025, ...SLI_BUCKETS]
const RESPONSE_BUCKETS = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
const BODY_BUCKETS = Array.from({ length: 31 }, (_, i) => 50_000 + i * 100_000)
const EVENT_BUCKETS = Array.from({ length: 8 }, (_, i) => 1024 * 2 ** i)
const WATCH_LIST_BUCKETS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60]

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
  const withoutDryRun = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const
  const sli = metrics.histogram(
    'apiserver_request_sli_duration_seconds',
    'Response latency distribution in seconds for each verb, group, version, resource, subresource, scope and component.',
    withoutDryRun,
    SLI_BUCKETS,
  )
  const responses = metrics.histogram(
    'apiserver_response_sizes',
    'Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.',
    withoutDryRun,
    RESPONSE_BUCKETS,
  )
  const bodies = metrics.histogram(
    'apiserver_request_body_size_bytes',
    'Apiserver request body size in bytes broken out by resource and verb.',
    ['group', 'resource', 'verb'],
    BODY_BUCKETS,
  )
  const own = metrics.counter(
    'apiserver_selfrequest_total',
    'Counter of apiserver self-requests broken out for each verb, API resource and subresource.',
    ['verb', 'group', 'resource', 'subresource'],
  )
  const terminations = metrics.counter(
    'apiserver_request_terminations_total',
    'Number of requests which apiserver terminated in self-defense.',
    ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component', 'code'],
  )
  const deprecated = metrics.gauge(
    'apiserver_requested_deprecated_apis',
    'Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.',
    ['group', 'version', 'resource', 'subresource', 'removed_release'],
  )
  countLoad(metrics, registry, current)
  /** By resource. One resource has few series, and comparing their labels is faster than building a key. */
  const series = new Map<string, Series[]>()

  function seriesOf(labels: RequestLabels, info: RequestInfo): Series {
    let ofResource = series.get(labels.resource)
    if (!ofResource) series.set(labels.resource, (ofResource = []))
    for (const each of ofResource) if (isSame(each.labels, labels)) return each
    const { verb, dryRun, group, version, resource, subresource, scope, component } = labels
    const common = [verb, group, version, resource, subresource, scope, component] as const
    const isRead = verb === 'GET' || verb === 'LIST'
    const created: Series = {
      labels,
      counters: new Map(),
      count: code => total.with(verb, dryRun, group, version, resource, subresource, scope, component, String(code)),
      latency: latencies.with(verb, dryRun, group, version, resource, subresource, scope, component),
      sli: sli.with(...common),
      responseSize: isRead ? responses.with(...common) : undefined,
      // Made for the first body, since most series have none.
      bodySize: once(() => bodies.with(group, resource, info.verb)),
    }
    ofResource.push(created)
    return created
  }

  /** A request that is rejected has not been routed yet; its resource may be one that nothing serves. */
  const isServed = ({ isRouted, info }: CountedRequest): boolean =>
    isRouted || (info.isResource && registry.find(info.group, info.version, info.resource) !== undefined)

  function onTermination(request: CountedRequest, code: number): void {
    const labels = labelsOf(request)
    if (!labels || !isServed(request)) return
    const { verb, dryRun, group, version, resource, subresource, scope, component } = labels
    terminations.with(verb, group, version, resource, subresource, scope, component, String(code)).inc()
    // Such a request has no latency that says anything.
    if (code === 429) total.with(verb, dryRun, group, version, resource, subresource, scope, component, '429').inc()
  }

  return {
    onRequestEnd(request, code, seconds) {
      if (request.termination !== undefined) onTermination(request, request.termination)
      if (request.termination === 429) return
      const labels = request.isRouted ? labelsOf(request) : undefined
      if (!labels) return
      const found = seriesOf(labels, request.info)
      let counter = found.counters.get(code)
      if (!counter) found.counters.set(code, (counter = found.count(code)))
      counter.inc()
      if (request.user?.name === OWN_USER)
        own.with(labels.verb, labels.group, labels.resource, labels.subresource).inc()
      found.latency.observe(seconds)
      // The latency of a dry run says nothing of the service level.
      if (labels.dryRun === '') found.sli.observe(seconds - outsideOf(request.waits ?? NO_WAITS) / 1000)
      found.responseSize?.observe(request.reply.bytes)
      if (request.bodyBytes !== undefined) found.bodySize().observe(request.bodyBytes)
    },
    onDeprecated(info) {
      const { group, version, resource, subresource } = info
      deprecated.with(group, version, resource, subresource, '').set(1)
    },
    onWatch: countWatches(metrics),
  }
}

function countWatches(metrics: MetricsRegistry): (info: RequestInfo) => WatchObserver {
  const labels = ['group', 'version', 'resource'] as const
  const events = metrics.counter('apiserver_watch_events_total', 'Number of events sent in watch clients', labels)
  const sizes = metrics.histogram(
    'apiserver_watch_events_sizes',
    'Watch event size distribution in bytes',
    labels,
    EVENT_BUCKETS,
  )
  const lists = metrics.histogram(
    'apiserver_watch_list_duration_seconds',
    'Response latency distribution in seconds for watch list requests broken by group, version, resource and scope.',
    ['group', 'version', 'resource', 'scope'],
    WATCH_LIST_BUCKETS,
  )
  return info => {
    const { group, version, resource } = info
    const began = performance.now()
    const count = events.with(group, version, resource)
    const size = sizes.with(group, version, resource)
    return {
      sent(bytes) {
        count.inc()
        size.observe(bytes)
      },
      listed: () => lists.with(group, version, resource, scopeOf(info)).observe((performance.now() - began) / 1000),
    }
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
  readonly component: string
}

interface Series {
  readonly labels: RequestLabels
  readonly counters: Map<number, Counter>
  count(code: number): Counter
  readonly latency: Histogram
  readonly sli: Histogram
  readonly responseSize: Histogram | undefined
  bodySize(): Histogram
}

const isSame = (a: RequestLabels, b: RequestLabels): boolean =>
  a.verb === b.verb &&
  a.group === b.group &&
  a.version === b.version &&
  a.subresource === b.subresource &&
  a.scope === b.scope &&
  a.dryRun === b.dryRun

/** Undefined for paths that are not counted. */
function labelsOf({ info, exchange }: CountedRequest): RequestLabels | undefined {
  if (!info.isResource) return pathLabels(info.path)
  const { group, version, resource, subresource } = info
  const scope = scopeOf(info)
  return {
    verb: verbOf(info, exchange, scope),
    dryRun: dryRunOf(info, exchange.query),
    group,
    version,
    resource,
    subresource,
    scope,
    component: COMPONENT,
  }
}

const NO_RESOURCE = { verb: 'GET', dryRun: '', group: '', version: '', resource: '', scope: '' }

/** Paths that name no resource, as kube-apiserver counts them; the others it does not count. */
const PATHS = new Map<string, RequestLabels>([
  ...['/healthz', '/livez', '/readyz'].map((path): [string, RequestLabels] => [
    path,
    { ...NO_RESOURCE, subresource: path, component: '' },
  ]),
  ...['api', 'apis'].map((path): [string, RequestLabels] => [
    `/${path}`,
    { ...NO_RESOURCE, subresource: path, component: COMPONENT },
  ]),
  ['/openapi/v3', { ...NO_RESOURCE, subresource: 'openapi/v3', component: '' }],
])
const OPENAPI_GROUP: RequestLabels = { ...NO_RESOURCE, subresource: 'openapi/v3/', component: '' }

const pathLabels = (path: string): RequestLabels | undefined =>
  PATHS.get(path) ?? (path.startsWith('/openapi/v3/') ? OPENAPI_GROUP : undefined)

function scopeOf({ isResource, verb, namespace, name }: RequestInfo): string {
  if (!isResource) return ''
  if (name !== '' || verb === 'create') return 'resource'
  return namespace === '' ? 'cluster' : 'namespace'
}

/** Subresources that join the client with a pod, service or node. */
const CONNECTING = new Set(['exec', 'attach', 'portforward', 'proxy'])
const METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** As kube-apiserver reports it: the method, but LIST, WATCH and APPLY apart. DELETE of a collection is seen by its scope. */
function verbOf(
  { verb, subresource }: RequestInfo,
  { method, headers }: CountedRequest['exchange'],
  scope: string,
): string {
  if (verb === 'watch') return 'WATCH'
  if (CONNECTING.has(subresource)) return 'CONNECT'
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
