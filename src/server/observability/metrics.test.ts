import { expect, test } from 'vitest'
import { createMetrics, type Gauges } from './metrics.js'

const gauges: Gauges = {
  load: { reading: 2, mutating: 1, watches: 3 },
  revision: async () => 42,
  storedBytes: async () => 4096,
}
const request = { verb: 'get', group: 'apps', version: 'v1', resource: 'deployments', subresource: '' }
const LABELS = 'verb="GET",group="apps",version="v1",resource="deployments",subresource=""'

async function lines(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  return (await metrics.print()).split('\n')
}

test('requests are counted by verb, resource and code', async () => {
  const metrics = createMetrics(gauges)
  for (const code of [200, 200, 404]) metrics.onRequestEnd({ ...request, code, seconds: 0.002 })
  const page = await lines(metrics)
  expect(page).toContain(`apiserver_request_total{${LABELS},code="200"} 2`)
  expect(page).toContain(`apiserver_request_total{${LABELS},code="404"} 1`)
})

test('durations are counted in buckets that include those below', async () => {
  const metrics = createMetrics(gauges)
  for (const seconds of [0.0005, 0.25, 100]) metrics.onRequestEnd({ ...request, code: 200, seconds })
  const page = await lines(metrics)
  const bucket = (le: string) => `apiserver_request_duration_seconds_bucket{${LABELS},le="${le}"}`
  expect(page).toContain(`${bucket('0.001')} 1`)
  expect(page).toContain(`${bucket('0.1')} 1`)
  expect(page).toContain(`${bucket('0.25')} 2`)
  expect(page).toContain(`${bucket('60')} 2`)
  expect(page).toContain(`${bucket('+Inf')} 3`)
  expect(page).toContain(`apiserver_request_duration_seconds_sum{${LABELS}} 100.2505`)
  expect(page).toContain(`apiserver_request_duration_seconds_count{${LABELS}} 3`)
})

test('how long a watch lasted is no duration of a request', async () => {
  const metrics = createMetrics(gauges)
  metrics.onRequestEnd({ ...request, verb: 'watch', code: 200, seconds: 1000 })
  const page = await lines(metrics)
  expect(page.find(line => line.startsWith('apiserver_request_total{verb="WATCH"'))).toMatch(/ 1$/)
  expect(page.find(line => line.startsWith('apiserver_request_duration_seconds_count{verb="WATCH"'))).toMatch(/ 0$/)
})

test('what is under way, what is stored and what the process takes is told', async () => {
  const page = await lines(createMetrics(gauges))
  expect(page).toContain('apiserver_current_inflight_requests{request_kind="mutating"} 1')
  expect(page).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 2')
  expect(page).toContain('apiserver_longrunning_requests{verb="WATCH"} 3')
  expect(page).toContain('binnacle_storage_revision 42')
  expect(page).toContain('apiserver_storage_size_bytes 4096')
  expect(page.find(line => line.startsWith('process_resident_memory_bytes '))).toMatch(/ [1-9][0-9]+$/)
})

test('a store that does not answer leaves its lines out', async () => {
  const page = await createMetrics({ ...gauges, revision: () => Promise.reject(new Error('away')) }).print()
  expect(page).not.toMatch('binnacle_storage_revision')
  expect(page).toMatch('process_cpu_seconds_total')
})

test('every line has the form that Prometheus reads', async () => {
  const metrics = createMetrics(gauges)
  metrics.onRequestEnd({ ...request, resource: 'a"b\\c\nd', code: 200, seconds: 1 })
  const text = await metrics.print()
  expect(text.endsWith('\n')).toBe(true)
  const sample = /^[a-z_]+(\{[a-z_]+="([^"\\\n]|\\["\\n])*"(,[a-z_]+="([^"\\\n]|\\["\\n])*")*\})? [0-9.e+-]+$/
  for (const line of text.trimEnd().split('\n')) expect(line).toMatch(line.startsWith('#') ? /^# (HELP|TYPE) / : sample)
})

test('deprecated versions that were asked for are told once', async () => {
  const metrics = createMetrics(gauges)
  const api = { group: 'example.com', version: 'v1beta1', resource: 'widgets', subresource: 'status' }
  metrics.onDeprecated(api)
  metrics.onDeprecated({ ...api })
  const labels = 'group="example.com",version="v1beta1",resource="widgets",subresource="status",removed_release=""'
  const page = await lines(metrics)
  expect(page.filter(line => line.startsWith('apiserver_requested_deprecated_apis'))).toEqual([
    `apiserver_requested_deprecated_apis{${labels}} 1`,
  ])
})
