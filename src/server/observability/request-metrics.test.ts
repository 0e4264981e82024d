import { expect, test } from 'vitest'
import { createMetrics } from '../../base/metrics.js'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import { createRegistry } from '../../kinds/registry.js'
import { parseRequestInfo } from '../../request/request-info.js'
import { NO_WAITS, withWait } from '../../request/waits.js'
import { createRequestMetrics } from './request-metrics.js'

const KIND = widgetKind({})
const WIDGETS = `/apis/${KIND.group}/${KIND.versions[0]!.name}`
const PLURAL = KIND.names.plural

function setUp() {
  const registry = createRegistry()
  registry.put(KIND)
  const watch = parseRequestInfo('GET', `${WIDGETS}/namespaces/a/${PLURAL}`, 'watch=true')
  const metrics = createMetrics()
  const load = { load: { reading: 2, mutating: 1 }, openWatches: () => [watch, watch] }
  const requests = createRequestMetrics(metrics, registry, () => load)
  return {
    async count(
      method: string,
      path: string,
      { query = '', type = '', code = 200, isRouted = true, user = 'alice', termination = 0, waits = NO_WAITS } = {},
    ): Promise<string[]> {
      const info = parseRequestInfo(method, path, query)
      const exchange = { method, query, headers: { 'content-type': type } }
      requests.onRequestEnd(
        {
          info,
          exchange,
          isRouted,
          user: { name: user },
          bodyBytes: 10,
          reply: { bytes: 2000 },
          waits,
          ...(termination !== 0 && { termination }),
        },
        code,
        0.3,
      )
      const page = await metrics.print()
      return page.split('\n').filter(line => line.startsWith('apiserver_request_total{'))
    },
    print: () => metrics.print(),
    requests,
  }
}

const line = (verb: string, rest: { scope: string; dryRun?: string; subresource?: string; code?: number }): string => {
  const { scope, dryRun = '', subresource = '', code = 200 } = rest
  const version = KIND.versions[0]!.name
  const labels = {
    code,
    component: 'apiserver',
    dry_run: dryRun,
    group: KIND.group,
    resource: PLURAL,
    scope,
    subresource,
    verb,
    version,
  }
  return `apiserver_request_total${printed(labels)} 1`
}

const printed = (labels: object): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${String(value)}"`)
    .join(',')}}`

test.each<[string, string, object, string]>([
  ['GET', `/namespaces/a/${PLURAL}/b`, {}, line('GET', { scope: 'resource' })],
  ['GET', `/namespaces/a/${PLURAL}`, {}, line('LIST', { scope: 'namespace' })],
  ['GET', `/${PLURAL}`, {}, line('LIST', { scope: 'cluster' })],
  ['GET', `/${PLURAL}`, { query: 'watch=true' }, line('WATCH', { scope: 'cluster' })],
  ['POST', `/namespaces/a/${PLURAL}`, { code: 201 }, line('POST', { scope: 'resource', code: 201 })],
  ['PUT', `/namespaces/a/${PLURAL}/b/status`, {}, line('PUT', { scope: 'resource', subresource: 'status' })],
  ['PATCH', `/namespaces/a/${PLURAL}/b`, { query: 'dryRun=All' }, line('PATCH', { scope: 'resource', dryRun: 'All' })],
  [
    'PATCH',
    `/namespaces/a/${PLURAL}/b`,
    { type: 'application/apply-patch+yaml' },
    line('APPLY', { scope: 'resource' }),
  ],
  [
    'DELETE',
    `/namespaces/a/${PLURAL}/b`,
    { query: 'dryRun=x' },
    line('DELETE', { scope: 'resource', dryRun: 'invalid' }),
  ],
  ['DELETE', `/namespaces/a/${PLURAL}`, {}, line('DELETE', { scope: 'namespace' })],
])('%s %s %j', async (method, path, options, expected) => {
  expect(await setUp().count(method, `${WIDGETS}${path}`, options)).toEqual([expected])
})

test('requests that nothing serves are not counted', async () => {
  const { count } = setUp()
  expect(await count('GET', '/apis/made.up/v1/things', { isRouted: false })).toEqual([])
  expect(await count('GET', '/version')).toEqual([])
})

test('paths that name no resource', async () => {
  const { count } = setUp()
  for (const path of ['/healthz', '/apis', '/openapi/v3/apis/apps/v1']) await count('GET', path)
  const lineOf = (component: string, subresource: string): string =>
    `apiserver_request_total${printed({
      code: 200,
      component,
      dry_run: '',
      group: '',
      resource: '',
      scope: '',
      subresource,
      verb: 'GET',
      version: '',
    })} 1`
  expect(await count('GET', '/openapi/v3')).toEqual([
    lineOf('', '/healthz'),
    lineOf('apiserver', 'apis'),
    lineOf('', 'openapi/v3/'),
    lineOf('', 'openapi/v3'),
  ])
})

test('sizes of bodies, responses and events', async () => {
  const { count, print, requests } = setUp()
  await count('GET', `${WIDGETS}/${PLURAL}`)
  await count('POST', `${WIDGETS}/namespaces/a/${PLURAL}`)
  const observer = requests.onWatch(parseRequestInfo('GET', `${WIDGETS}/${PLURAL}`, 'watch=true'))
  observer.sent(1500)
  observer.listed()
  const page = await print()
  expect(page).toMatch(/apiserver_response_sizes_sum\{.*verb="LIST",.*\} 2000/)
  expect(page).not.toMatch(/apiserver_response_sizes_sum\{.*verb="POST"/)
  expect(page).toMatch(/apiserver_request_body_size_bytes_sum\{.*verb="create"\} 10/)
  expect(page).toMatch(/apiserver_response_sizes_bucket\{.*le="1e\+06"\} 1/)
  expect(page).toMatch(/apiserver_watch_events_sizes_bucket\{.*le="1024"\} 0/)
  expect(page).toMatch(/apiserver_watch_events_total\{.*\} 1/)
  expect(page).toMatch(/apiserver_watch_list_duration_seconds_count\{.*scope="cluster",.*\} 1/)
})

test('the requests of the moment, and deprecated versions', async () => {
  const { print, requests } = setUp()
  requests.onDeprecated(parseRequestInfo('GET', '/apis/example.com/v1beta1/namespaces/a/widgets/b/status', ''))
  const page = await print()
  expect(page).toMatch('apiserver_current_inflight_requests{request_kind="mutating"} 1')
  expect(page).toMatch('apiserver_current_inflight_requests{request_kind="readOnly"} 2')
  expect(page).toMatch(
    /apiserver_longrunning_requests\{component="apiserver",.*scope="namespace",.*verb="WATCH",.*\} 2/,
  )
  expect(page).toMatch(
    'apiserver_requested_deprecated_apis{group="example.com",removed_release="",resource="widgets",subresource="status",version="v1beta1"} 1',
  )
})

test('requests of the server to itself are counted apart', async () => {
  const { count, print } = setUp()
  await count('GET', `${WIDGETS}/namespaces/a/${PLURAL}/b`)
  await count('GET', `${WIDGETS}/namespaces/a/${PLURAL}/b`, { user: 'system:apiserver' })
  const labels = { group: KIND.group, resource: PLURAL, subresource: '', verb: 'GET' }
  expect(await print()).toContain(`apiserver_selfrequest_total${printed(labels)} 1\n`)
})

test('requests that the server ends to protect itself are counted, also before they are routed', async () => {
  const { count, print } = setUp()
  const rejected = { termination: 429, code: 429, isRouted: false }
  expect(await count('GET', `${WIDGETS}/${PLURAL}`, rejected)).toEqual([line('LIST', { scope: 'cluster', code: 429 })])
  await count('GET', '/apis/made.up/v1/things', rejected)
  await count('GET', `${WIDGETS}/${PLURAL}`, { termination: 504, code: 504 })
  const page = await print()
  const found = page.split('\n').filter(text => text.startsWith('apiserver_request_terminations_total{'))
  expect(found.map(text => /code="(\d+)".*verb="(\w+)".* (\d+)$/.exec(text)?.slice(1))).toEqual([
    ['429', 'LIST', '1'],
    ['504', 'LIST', '1'],
  ])
  // A rejected request has no latency.
  expect(page).toMatch(/apiserver_request_duration_seconds_count\{.*\} 1/)
})

test('the service level leaves out what a request waited for webhooks and in a queue, and dry runs', async () => {
  const { count, print } = setUp()
  const parallel = withWait(withWait(NO_WAITS, 'validating-webhook', 40), 'validating-webhook', 30)
  const waits = withWait(withWait(parallel, 'apf-queue-wait', 60), 'authentication', 1000)
  await count('POST', `${WIDGETS}/namespaces/a/${PLURAL}`, { waits })
  await count('POST', `${WIDGETS}/namespaces/a/${PLURAL}`, { query: 'dryRun=All' })
  const page = await print()
  const sums = page.split('\n').filter(text => text.startsWith('apiserver_request_sli_duration_seconds_sum'))
  expect(sums).toHaveLength(1)
  expect(Number(sums[0]!.split(' ')[1])).toBeCloseTo(0.2)
})
