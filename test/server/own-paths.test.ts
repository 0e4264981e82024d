// The paths for health, version and metrics.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'
import { beginWatch, sendRequest } from './request.js'

let server: Binnacle
beforeAll(async () => {
  server = await startBinnacle()
})
afterAll(() => server.stop())

const admin = (path: string) => sendRequest(server, path, { token: server.token })

test.each(['/healthz', '/livez', '/readyz', '/healthz/ping', '/livez/ping', '/readyz/ping', '/readyz/etcd'])(
  '%s is ok',
  async path => {
    expect(await admin(path)).toMatchObject({ status: 200, text: 'ok' })
  },
)

test('each check is listed with verbose', async () => {
  const { text } = await admin('/readyz?verbose')
  expect(text.startsWith('[+]ping ok\n[+]log ok\n[+]etcd ok\n')).toBe(true)
  expect(text.endsWith('[+]shutdown ok\nreadyz check passed\n')).toBe(true)
  expect(text).not.toContain('[-]')
  expect(text).toContain('[+]poststarthook/rbac/bootstrap-roles ok\n')
})

test.each(['/healthz', '/livez', '/readyz', '/version'])('everyone may get %s', async path => {
  expect((await sendRequest(server, path)).status).toBe(200)
})

test.each(['/livez/ping', '/metrics', '/metrics/slis', '/api'])('not everyone may get %s', async path => {
  expect((await sendRequest(server, path)).status).toBe(403)
})

test('the version is that of the API', async () => {
  expect((await admin('/version')).body).toMatchObject({ major: '1', minor: '36' })
})

test('metrics count requests by verb, resource and code, and watches as long as they last', async () => {
  const sample = async (name: string): Promise<number> => {
    const { text } = await admin('/metrics')
    const line = text.split('\n').find(each => each.startsWith(`${name} `) || each.startsWith(`${name}{`))
    return Number(line?.split(' ').at(-1) ?? 0)
  }
  const of = (verb: string): string =>
    `group="",resource="secrets",scope="cluster",subresource="",verb="${verb}",version="v1"`
  const lists = `apiserver_request_total{code="200",component="apiserver",dry_run="",${of('LIST')}}`
  const watches = `apiserver_longrunning_requests{component="apiserver",${of('WATCH')}}`
  await admin('/api/v1/secrets')
  await admin('/api/v1/secrets')
  expect(await sample(lists)).toBe(2)
  expect(await sample('binnacle_storage_revision')).toBeGreaterThan(0)
  const watch = await beginWatch(server, '/api/v1/secrets?watch=true&timeoutSeconds=1', server.token)
  expect(await sample(watches)).toBe(1)
  await watch.ended
  await expect.poll(() => sample(watches)).toBe(0)
})

test('names of resources that are not served are not counted', async () => {
  await admin('/api/v1/made-up-by-a-client')
  expect((await admin('/metrics')).text).not.toMatch('made-up-by-a-client')
})

test('metrics count impersonation by its mode', async () => {
  const headers = { 'impersonate-user': 'carol' }
  await sendRequest(server, '/api/v1/pods', { token: server.token, headers })
  const { text } = await admin('/metrics')
  expect(text).toContain('apiserver_impersonation_attempts_total{decision="allowed",mode="user-info"} 1\n')
  // For the list, and for the user.
  expect(text).toContain(
    'apiserver_impersonation_authorization_attempts_total{decision="allowed",mode="user-info"} 2\n',
  )
})

test('/metrics/slis has the results of health checks, until a DELETE', async () => {
  const page = async (): Promise<string> => (await admin('/metrics/slis')).text
  expect((await admin('/')).body.paths).toContain('/metrics/slis')
  await sendRequest(server, '/metrics/slis', { method: 'DELETE', token: server.token })
  expect(await page()).toBe('')
  await admin('/livez?exclude=etcd')
  await admin('/livez')
  await admin('/readyz/log')
  const text = await page()
  expect(text).toContain('# TYPE kubernetes_healthcheck gauge\n')
  expect(text).toContain('# TYPE kubernetes_healthchecks_total counter\n')
  expect(text).toContain('kubernetes_healthcheck{name="etcd",type="livez"} 1\n')
  expect(text).toContain('kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 2\n')
  expect(text).toContain('kubernetes_healthchecks_total{name="etcd",status="success",type="livez"} 1\n')
  // The page of a single check is not counted.
  expect(text).not.toContain('readyz')
  const reset = await sendRequest(server, '/metrics/slis', { method: 'DELETE', token: server.token })
  expect([reset.status, reset.headers['content-type'], reset.text]).toEqual([
    200,
    'text/plain; charset=utf-8',
    'metrics reset\n',
  ])
  expect(await page()).toBe('')
})

test('the objects that every cluster has exist', async () => {
  const names = async (path: string): Promise<string[]> =>
    (await admin(path)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  expect(await names('/api/v1/namespaces')).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
  expect(await names('/apis/rbac.authorization.k8s.io/v1/clusterroles')).toEqual(
    expect.arrayContaining(['admin', 'cluster-admin', 'edit', 'system:discovery', 'view']),
  )
  expect((await admin('/api/v1/namespaces/default/services/kubernetes')).body).toMatchObject({
    metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { type: 'ClusterIP', clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] },
  })
})

test('metrics have the names that dashboards for kube-apiserver use', async () => {
  const { text } = await admin('/metrics')
  for (const name of [
    'apiserver_request_total',
    'apiserver_request_duration_seconds_bucket',
    'apiserver_current_inflight_requests',
    'apiserver_storage_objects{resource="namespaces"} 4',
    'apiserver_resource_objects{group="rbac.authorization.k8s.io",resource="clusterroles"}',
    'workqueue_adds_total{name="autoregister"}',
    'workqueue_depth{name="namespace"}',
    'apiserver_watch_cache_events_received_total{group="",resource="namespaces"}',
    'apiserver_watch_cache_resource_version{group="",resource="namespaces"}',
    'apiserver_flowcontrol_nominal_limit_seats{priority_level="workload-low"} 245',
    'apiserver_flowcontrol_request_concurrency_limit{priority_level="workload-low"} 245',
    'apiserver_current_inqueue_requests{request_kind="readOnly"} 0',
    'workqueue_longest_running_processor_seconds{name="namespace"}',
    'pod_security_evaluations_total{decision="allow",mode="enforce",policy_level="privileged",policy_version="latest",request_operation="update",resource="pod",subresource=""} 0',
    'pod_security_exemptions_total{request_operation="create",resource="pod",subresource=""} 0',
    'pod_security_exemptions_total{request_operation="update",resource="controller",subresource=""} 0',
    'process_cpu_seconds_total',
    'process_open_fds',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
  ]) {
    expect(text).toMatch(name)
  }
})

test('two servers in one process count apart', async () => {
  const other = await startBinnacle()
  await sendRequest(other, '/api/v1/namespaces/default/limitranges', { token: other.token })
  const count = async (one: Binnacle) =>
    (await sendRequest(one, '/metrics', { token: one.token })).text.match(/^apiserver_request_total.*limitranges.*/gm)
  expect(await count(other)).toHaveLength(1)
  expect(await count(server)).toBeNull()
  await other.stop()
})
