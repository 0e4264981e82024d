// A server whose etcd does not answer: every response is 503 or 504 and says when to try again, never 500, and readiness
// says at once what is missing.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BinnacleProcess, spawnBinnacle, startBinnacleProcess } from '../components/binnacle.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { type Response, sendRequest } from '../server/request.js'

const token = 'admin-token'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const patchOf = (path: string) => ({
  'content-type': path.includes('fieldManager') ? 'application/apply-patch+yaml' : 'application/merge-patch+json',
})

describe.skipIf(etcdMissing())('without etcd', () => {
  let etcd: Etcd
  let server: BinnacleProcess

  beforeAll(async () => {
    etcd = await startEtcd()
    server = await startBinnacleProcess(`--etcd-servers=${etcd.endpoints.join(',')}`)
    await send('POST', CONFIGMAPS, { metadata: { name: 'a' }, data: { a: 'b' } })
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], type: 'NodePort' } }
    await send('POST', '/api/v1/namespaces/default/services', service)
  }, 60_000)
  afterAll(async () => {
    await server?.kill()
    await etcd?.stop()
  })

  const send = (method: string, path: string, body?: unknown, as = token): Promise<Response> =>
    sendRequest(server, path, { method, token: as, body, ...(method === 'PATCH' && { headers: patchOf(path) }) })

  const REQUESTS: [method: string, path: string, body?: unknown][] = [
    ['GET', CONFIGMAPS],
    ['GET', `${CONFIGMAPS}?resourceVersion=0&limit=1`],
    ['GET', `${CONFIGMAPS}/a`],
    ['POST', CONFIGMAPS, { metadata: { name: 'b' } }],
    ['POST', `${CONFIGMAPS}?dryRun=All`, { metadata: { name: 'b' } }],
    ['PUT', `${CONFIGMAPS}/a`, { metadata: { name: 'a' } }],
    ['PATCH', `${CONFIGMAPS}/a`, { data: { a: 'c' } }],
    ['PATCH', `${CONFIGMAPS}/a?fieldManager=m`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }],
    ['DELETE', '/api/v1/namespaces/default'],
    ['PUT', '/api/v1/namespaces/default/finalize', { metadata: { name: 'default' }, spec: { finalizers: [] } }],
    ['GET', '/api/v1/namespaces/default/services/s/proxy/'],
    ['POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } }],
    ['GET', '/openapi/v3'],
    ['GET', '/apis'],
    ['GET', '/metrics'],
    ['DELETE', `${CONFIGMAPS}/a`],
    ['DELETE', CONFIGMAPS],
    ['POST', '/api/v1/namespaces/default/services', { metadata: { name: 't' }, spec: { ports: [{ port: 80 }] } }],
    ['POST', '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} }],
    ['POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { metadata: { name: 'x' } }],
    ['GET', `${CONFIGMAPS}?watch=1&timeoutSeconds=1`],
  ]

  /** What is wrong with the responses. Requests that need nothing from the store are answered as always. */
  const disorderly = (responses: readonly Response[]): string[] =>
    responses.flatMap(({ status, headers, body, text }, i) => {
      const isOrderly =
        (status === 503 || status === 504) && headers['retry-after'] !== undefined && body?.kind === 'Status'
      return status < 500 || isOrderly ? [] : [`${REQUESTS[i]!.slice(0, 2).join(' ')}: ${status} ${text}`]
    })

  async function expectOrderly(): Promise<void> {
    const responses = await Promise.all(REQUESTS.map(request => send(...request)))
    expect(disorderly(responses)).toEqual([])
    expect(responses.filter(({ status }) => status >= 500).length).toBeGreaterThan(6)
  }

  test('that was killed', { timeout: 30_000 }, async () => {
    await etcd.kill()
    await expect.poll(async () => (await send('GET', '/readyz')).status, { timeout: 5000 }).toBe(500)
    const began = performance.now()
    const [all, one, alive] = await Promise.all([
      send('GET', '/readyz'),
      send('GET', '/readyz/etcd'),
      send('GET', '/livez'),
    ])
    expect(performance.now() - began).toBeLessThan(1000)
    expect(all.text).toContain('[-]etcd failed: the store does not answer')
    expect(one.text).toContain('no connection to etcd at')
    expect(alive.status).toBe(200)
    await expectOrderly()
    await etcd.restart()
    await expect.poll(async () => (await send('GET', '/readyz')).status, { timeout: 10_000 }).toBe(200)
    expect((await send('GET', `${CONFIGMAPS}/a`)).status).toBe(200)
  })

  test('that is paused; a server that starts meanwhile waits for it', { timeout: 60_000 }, async () => {
    etcd.pause()
    const data = mkdtempSync(join(tmpdir(), 'binnacle-waiting-'))
    const flags = [`--data-dir=${data}`, '--secure-port=0', `--etcd-servers=${etcd.endpoints.join(',')}`]
    const starting = spawnBinnacle('serve', ...flags)
    const began = performance.now()
    expect((await send('GET', '/readyz')).text).toContain('[-]etcd failed: the store does not answer')
    expect(performance.now() - began).toBeLessThan(3000)
    await expectOrderly()
    await expect.poll(() => starting.output.stderr, { timeout: 15_000 }).toContain('the start is tried again reason=')
    etcd.resume()
    await expect.poll(async () => (await send('GET', '/readyz')).status, { timeout: 10_000 }).toBe(200)
    await expect.poll(() => starting.output.stdout, { timeout: 15_000 }).toContain('ready at')
    starting.signal('SIGTERM')
    expect((await starting.exit).code).toBe(0)
    rmSync(data, { recursive: true })
  })

  // Last: a metric of errors exists once there were some.
  test('the metrics of the alerts in docs/production.md exist', async () => {
    const docs = readFileSync(new URL('../../docs/production.md', import.meta.url), 'utf8')
    const { text } = await send('GET', '/metrics')
    const expressions = [...docs.matchAll(/^ *expr: (.*)$/gm)].map(([, expression]) => expression!)
    expect(expressions).toHaveLength(7)
    // `up` is Prometheus' own.
    const selectors = expressions.flatMap(each =>
      Array.from(each.matchAll(/([a-z]+(?:_[a-z]+)+)(?:{(.*?)})?(?=[[ )])/g)),
    )
    const unknown = selectors.filter(([, name, labels = '']) => {
      if (['histogram_quantile', 'min_over_time'].includes(name!)) return false
      const lines = text.split('\n').filter(line => line.startsWith(`${name}{`) || line.startsWith(`# HELP ${name} `))
      const wanted = labels.split(',').filter(label => label.includes('="'))
      return (
        lines.length === 0 || !(wanted.length === 0 || lines.some(line => wanted.every(label => line.includes(label))))
      )
    })
    expect(unknown.map(([selector]) => selector)).toEqual([])
    expect(selectors.length).toBeGreaterThan(7)
  })
})
