// What /metrics tells, in Prometheus' text format and by kube-apiserver's names where it has one, so that dashboards
// made for it work. Counting a request costs one look-up and two additions.

export interface RequestRecord {
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly code: number
  readonly seconds: number
}

/** What was asked for in a version that is on its way out. */
export interface DeprecatedApi {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
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

/** The names that clients think of have no end. */
export const knownSubresource = ({ subresource }: { readonly subresource: string }): string =>
  SUBRESOURCES.has(subresource) ? subresource : ''

export interface Metrics {
  onRequestEnd(request: RequestRecord): void
  onDeprecated(api: DeprecatedApi): void
  print(): Promise<string>
}

/** What is looked up when somebody asks. */
export interface Gauges {
  /** Requests under way. */
  readonly load: { readonly reading: number; readonly mutating: number; readonly watches: number }
  revision(): Promise<number>
  /** Undefined where nobody knows. */
  storedBytes(): Promise<number | undefined>
}

/** Watches last until somebody ends them: how long says nothing. */
const LASTING = 'watch'
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function createMetrics(gauges: Gauges): Metrics {
  const startedAt = Date.now() / 1000 - process.uptime()
  /** By resource: those of one are few, and to compare names costs less than to make a key of them. */
  const series = new Map<string, Series[]>()
  const deprecated = new Map<string, DeprecatedApi>()

  function seriesOf(request: RequestRecord): Series {
    let ofResource = series.get(request.resource)
    if (!ofResource) series.set(request.resource, (ofResource = []))
    for (const each of ofResource) if (isOf(each.labels, request)) return each
    const made = newSeries(request)
    ofResource.push(made)
    return made
  }

  return {
    onDeprecated({ group, version, resource, subresource }) {
      const key = `${group} ${version} ${resource} ${subresource}`
      if (!deprecated.has(key)) deprecated.set(key, { group, version, resource, subresource })
    },
    onRequestEnd(request) {
      const { verb, code, seconds } = request
      const known = seriesOf(request)
      known.codes.set(code, (known.codes.get(code) ?? 0) + 1)
      if (verb === LASTING) return
      known.sum += seconds
      known.buckets[bucketOf(seconds)]!++
    },
    async print() {
      const page = createPage()
      printRequests(page, [...series.values()].flat())
      printDeprecated(page, deprecated.values())
      printLoad(page, gauges)
      await printStorage(page, gauges)
      printProcess(page, startedAt)
      return page.text()
    },
  }
}

interface Series {
  readonly labels: Omit<RequestRecord, 'code' | 'seconds'>
  readonly codes: Map<number, number>
  /** How many took up to each bound and longer than the one before; the last took longer than all. */
  readonly buckets: number[]
  sum: number
}

const isOf = (labels: Series['labels'], { verb, group, version, subresource }: RequestRecord): boolean =>
  labels.verb === verb && labels.group === group && labels.version === version && labels.subresource === subresource

const newSeries = ({ verb, group, version, resource, subresource }: RequestRecord): Series => ({
  labels: { verb, group, version, resource, subresource },
  codes: new Map(),
  buckets: Array.from({ length: BUCKETS.length + 1 }, () => 0),
  sum: 0,
})

function bucketOf(seconds: number): number {
  const at = BUCKETS.findIndex(bound => seconds <= bound)
  return at === -1 ? BUCKETS.length : at
}

function printRequests(page: Page, series: readonly Series[]): void {
  page.family('apiserver_request_total', 'counter', 'Requests that have been answered.')
  for (const { labels: asCounted, codes } of series) {
    const labels = printedLabels(asCounted)
    for (const [code, count] of codes) page.sample('apiserver_request_total', { ...labels, code }, count)
  }
  const name = 'apiserver_request_duration_seconds'
  page.family(name, 'histogram', 'How long requests took that were not watches.')
  for (const { labels: asCounted, buckets, sum } of series) {
    const labels = printedLabels(asCounted)
    let count = 0
    for (const [i, more] of buckets.entries()) {
      count += more
      page.sample(`${name}_bucket`, { ...labels, le: BUCKETS[i] ?? '+Inf' }, count)
    }
    page.sample(`${name}_sum`, labels, sum)
    page.sample(`${name}_count`, labels, count)
  }
}

const printedLabels = (labels: Series['labels']): Labels => ({ ...labels, verb: labels.verb.toUpperCase() })

function printDeprecated(page: Page, apis: Iterable<DeprecatedApi>): void {
  const name = 'apiserver_requested_deprecated_apis'
  page.family(name, 'gauge', 'Deprecated versions that have been asked for since the start.')
  for (const api of apis) page.sample(name, { ...api, removed_release: '' }, 1)
}

function printLoad(page: Page, { load }: Gauges): void {
  page.family('apiserver_current_inflight_requests', 'gauge', 'Requests under way, apart from watches.')
  page.sample('apiserver_current_inflight_requests', { request_kind: 'mutating' }, load.mutating)
  page.sample('apiserver_current_inflight_requests', { request_kind: 'readOnly' }, load.reading)
  page.family('apiserver_longrunning_requests', 'gauge', 'Watches under way.')
  page.sample('apiserver_longrunning_requests', { verb: 'WATCH' }, load.watches)
}

async function printStorage(page: Page, gauges: Gauges): Promise<void> {
  // A store that does not answer is told by what is missing here, and by /readyz.
  const [revision, bytes] = await Promise.allSettled([gauges.revision(), gauges.storedBytes()])
  if (revision.status === 'fulfilled') {
    page.family('binnacle_storage_revision', 'counter', 'The revision of the latest write.')
    page.sample('binnacle_storage_revision', {}, revision.value)
  }
  if (bytes.status === 'fulfilled' && bytes.value !== undefined) {
    page.family('apiserver_storage_size_bytes', 'gauge', 'The size of the files that hold the objects.')
    page.sample('apiserver_storage_size_bytes', {}, bytes.value)
  }
}

function printProcess(page: Page, startedAt: number): void {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const single = (name: string, type: 'counter' | 'gauge', about: string, value: number): void => {
    page.family(name, type, about)
    page.sample(name, {}, value)
  }
  single('process_cpu_seconds_total', 'counter', 'Processor time that was used.', (user + system) / 1e6)
  single('process_resident_memory_bytes', 'gauge', 'Memory that is in use.', rss)
  single('process_start_time_seconds', 'gauge', 'When the process began, in seconds since 1970.', startedAt)
  single('nodejs_heap_size_used_bytes', 'gauge', 'Memory of JavaScript objects.', heapUsed)
  single('nodejs_heap_size_total_bytes', 'gauge', 'Memory that is kept for JavaScript objects.', heapTotal)
  single('nodejs_external_memory_bytes', 'gauge', 'Memory of buffers.', external)
  const { utilization } = performance.eventLoopUtilization()
  single('nodejs_eventloop_utilization', 'gauge', 'Which part of its time the event loop was busy.', utilization)
}

// ---- the format

type Labels = Readonly<Record<string, string | number>>

interface Page {
  family(name: string, type: 'counter' | 'gauge' | 'histogram', about: string): void
  sample(name: string, labels: Labels, value: number): void
  text(): string
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

function createPage(): Page {
  const lines: string[] = []
  return {
    family: (name, type, about) => void lines.push(`# HELP ${name} ${about}`, `# TYPE ${name} ${type}`),
    sample(name, labels, value) {
      const printed = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`)
      lines.push(`${name}${printed.length === 0 ? '' : `{${printed.join(',')}}`} ${value}`)
    },
    text: () => `${lines.join('\n')}\n`,
  }
}

const escaped = (text: string): string => text.replace(/["\\\n]/g, found => (found === '\n' ? '\\n' : `\\${found}`))
