// Services get cluster IPs, and release them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'
import { startBinnacleProcess } from '../components/binnacle.js'
import { sendRequest } from './request.js'

const SERVICES = '/api/v1/namespaces/default/services'

let server: Binnacle
beforeEach(async () => {
  server = await startBinnacle()
})
afterEach(() => server.stop())

const service = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
})
const create = (body: object, query = '') =>
  sendRequest(server, SERVICES + query, { method: 'POST', token: server.token, body })

test('each has a different address, from the range of the server', async () => {
  const created = await Promise.all(Array.from({ length: 20 }, (_, i) => create(service(`s-${i}`))))
  const addresses = created.map(({ body }) => body.spec.clusterIP as string)
  expect(new Set([...addresses, '10.0.0.1']).size).toBe(21)
  for (const address of addresses) expect(address).toMatch(/^10\.0\.0\.\d+$/)
})

test('an allocated address is refused, and free again when its service is deleted', async () => {
  const wish = { clusterIP: '10.0.0.77', type: 'NodePort', ports: [{ port: 80, nodePort: 30_077 }] }
  expect((await create(service('first', wish))).status).toBe(201)
  const { status, body } = await create(service('second', wish))
  expect(status).toBe(422)
  expect(body.message).toMatch('failed to allocate IP 10.0.0.77: provided IP is already allocated')
  await sendRequest(server, `${SERVICES}/first`, { method: 'DELETE', token: server.token })
  await expect.poll(async () => (await create(service('second', wish))).status).toBe(201)
})

test('an update keeps the address', async () => {
  const { body } = await create(service('kept'))
  const { status, body: updated } = await sendRequest(server, `${SERVICES}/kept`, {
    method: 'PUT',
    token: server.token,
    body: { ...body, metadata: { ...body.metadata, labels: { a: 'b' } } },
  })
  expect(status).toBe(200)
  expect(updated.spec).toEqual(body.spec)
})

test('a server starts while another Service has the address of the service kubernetes, which gets it back', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-first-address-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const token = 'admin-token'
  const start = (range: string) =>
    startBinnacleProcess(`--data-dir=${directory}`, `--service-cluster-ip-range=${range}`)
  const wide = await start('10.0.0.0/16')
  const body = service('other', { clusterIP: '10.0.5.1' })
  expect((await sendRequest(wide, SERVICES, { method: 'POST', token, body })).status).toBe(201)
  await wide.stop()
  // Now the first address is that of the Service.
  const narrow = await start('10.0.5.0/24')
  expect((await sendRequest(narrow, `${SERVICES}/kubernetes`, { method: 'DELETE', token })).status).toBe(200)
  await narrow.stop()
  const again = await start('10.0.5.0/24')
  expect((await sendRequest(again, '/readyz', { token })).status).toBe(200)
  expect((await sendRequest(again, `${SERVICES}/kubernetes`, { token })).status).toBe(404)
  await sendRequest(again, `${SERVICES}/other`, { method: 'DELETE', token })
  const address = async () => (await sendRequest(again, `${SERVICES}/kubernetes`, { token })).body.spec?.clusterIP
  await expect.poll(address, { timeout: 20_000 }).toBe('10.0.5.1')
  await again.stop()
})
