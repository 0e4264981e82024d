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

export interface Metrics {
  onRequestEnd(request: RequestRecord): void
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
  const series = new Map<string, Series>()

  return {
    onRequestEnd(request) {
      const { verb, group, version, resource, subresource, code, seconds } = request
      const key = `${verb} ${group} ${version} ${resource} ${subresource}`
      let known = series.get(key)
      if (!known) series.set(key, (known = newSeries(request)))
      known.codes.set(code, (known.codes.get(code) ?? 0) + 1)
      if (verb === LASTING) return
      known.sum += seconds
      known.buckets[bucketOf(seconds)]!++
    },
    async print() {
      const page = createPage()
      printRequests(page, series.values())
      printLoad(page, gauges)
      await printStorage(page, gauges)
      printProcess(page, startedAt)
      return page.text()
    },
  }
}

interface Series {
  readonly labels: Labels
  readonly codes: Map<number, number>
  /** How many took up to each bound and longer than the one before; the last took longer than all. */
  readonly buckets: number[]
  sum: number
}

const newSeries = ({ verb, group, version, resource, subresource }: RequestRecord): Series => ({
  labels: { verb: verb.toUpperCase(), group, version, resource, subresource },
  codes: new Map(),
  buckets: Array.from({ length: BUCKETS.length + 1 }, () => 0),
  sum: 0,
})

function bucketOf(seconds: number): number {
  const at = BUCKETS.findIndex(bound => seconds <= bound)
  return at === -1 ? BUCKETS.length : at
}

function printRequests(page: Page, all: Iterable<Series>): void {
  const series = [...all]
  page.family('apiserver_request_total', 'counter', 'Requests that have been answered.')
  for (const { labels, codes } of series) {
    for (const [code, count] of codes) page.sample('apiserver_request_total', { ...labels, code }, count)
  }
  const name = 'apiserver_request_duration_seconds'
  page.family(name, 'histogram', 'How long requests took that were not watches.')
  for (const { labels, buckets, sum } of series) {
    let count = 0
    for (const [i, more] of buckets.entries()) {
      count += more
      page.sample(`${name}_bucket`, { ...labels, le: BUCKETS[i] ?? '+Inf' }, count)
    }
    page.sample(`${name}_sum`, labels, sum)
    page.sample(`${name}_count`, labels, count)
  }
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
