// A server whose etcd does not answer: every response is 503 or 504 and says when to try again, never 500, and readiness
// says at once what is missing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BinnacleProcess, spawnBinnacle, startBinnacleProcess } from '../components/binnacle.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { type Response, sendRequest } from '../server/request.js'

const token = 'admin-token'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'

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
    sendRequest(server, path, { method, token: as, body })

  const REQUESTS: [method: string, path: string, body?: unknown][] = [
    ['GET', CONFIGMAPS],
    ['GET', `${CONFIGMAPS}?resourceVersion=0&limit=1`],
    ['GET', `${CONFIGMAPS}/a`],
    ['POST', CONFIGMAPS, { metadata: { name: 'b' } }],
    ['POST', `${CONFIGMAPS}?dryRun=All`, { metadata: { name: 'b' } }],
    ['PUT', `${CONFIGMAPS}/a`, { metadata: { name: 'a' } }],
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
})
