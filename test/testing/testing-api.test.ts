// The testing API of `binnacle serve --testing`, as programs in other languages use it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { sendRequest } from '../server/request.js'

let server: BinnacleProcess
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

beforeAll(async () => {
  server = await startBinnacleProcess('--testing')
})

afterAll(() => server?.stop())

const send = (method: string, path: string, body?: object, token = 'admin-token') =>
  sendRequest(server, path, { method, token, body, headers: { 'content-type': 'application/json' } })

const testing = (method: string, path: string, body?: object) => send(method, `/binnacle/testing${path}`, body)

const create = (name: string) => send('POST', CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

test('faults are switched on and off, and reported', async () => {
  await testing('POST', '/faults', { verb: 'get', resource: 'configmaps', status: 503 })
  expect((await send('GET', `${CONFIG_MAPS}/x`)).status).toBe(503)
  expect((await testing('GET', '/faults')).body.report.at(-1)).toMatchObject({ verb: 'get', fault: { status: 503 } })
  await testing('DELETE', '/faults')
  expect((await send('GET', `${CONFIG_MAPS}/x`)).status).toBe(404)
})

test('a mixture of faults is the same for the same seed', async () => {
  const run = async () => {
    await testing('POST', '/chaos', { seed: 3, plan: 'mild', probability: 0.3 })
    const statuses: number[] = []
    for (let i = 0; i < 10; i++) statuses.push((await send('GET', `${CONFIG_MAPS}/x`)).status)
    await testing('DELETE', '/faults')
    return statuses
  }
  const first = await run()
  expect(first).toContain(429)
  expect(await run()).toEqual(first)
})

test('the clock moves', async () => {
  const before = Date.parse((await testing('GET', '/clock')).body.now as string)
  await testing('POST', '/clock', { advance: '1h' })
  expect(Date.parse((await testing('GET', '/clock')).body.now as string) - before).toBeGreaterThanOrEqual(3_600_000)
})

test('a reset goes back to a snapshot', async () => {
  await create('kept')
  await testing('POST', '/snapshots', { name: 'with kept' })
  await create('dropped')
  await testing('POST', '/reset', { name: 'with kept' })
  expect((await send('GET', `${CONFIG_MAPS}/kept`)).status).toBe(200)
  expect((await send('GET', `${CONFIG_MAPS}/dropped`)).status).toBe(404)
})

test('a fork is a server of its own', async () => {
  await create('shared')
  const { url, token, kubeconfig } = (await testing('POST', '/forks')).body as Record<string, string>
  expect(kubeconfig).toContain(url)
  const found = await sendRequest({ url: url!, ca: server.ca }, `${CONFIG_MAPS}/shared`, { token })
  expect(found.status).toBe(200)
  await sendRequest({ url: url!, ca: server.ca }, `${CONFIG_MAPS}/shared`, { method: 'DELETE', token })
  expect((await send('GET', `${CONFIG_MAPS}/shared`)).status).toBe(200)
  await testing('DELETE', '/forks')
})

test('requests are listed', async () => {
  await testing('DELETE', '/requests')
  await send('GET', `${CONFIG_MAPS}/x`, undefined, 'bob-token')
  const { requests } = (await testing('GET', '/requests')).body as { requests: { user: string }[] }
  expect(requests.find(({ user }) => user === 'bob')).toMatchObject({
    verb: 'get',
    resource: 'configmaps',
    name: 'x',
    user: 'bob',
    status: 403,
  })
})

test('a wrong call is answered 400 and says what would be right', async () => {
  const messages = await Promise.all([
    testing('POST', '/faults', { statsu: 500 }),
    testing('POST', '/reset', { name: 'unknown' }),
    testing('POST', '/reset', { nme: 'with kept' }),
    testing('POST', '/chaos', { seed: 1, probabilty: 0.5 }),
    testing('GET', '/unknown'),
    testing('PUT', '/faults'),
    testing('POST', '/clock', { advance: 'soon' }),
  ])
  expect(messages.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400, 400])
  const texts = messages.map(({ body }) => body.message as string)
  expect(texts[0]).toBe('a fault has no field statsu: did you mean status?')
  expect(texts[2]).toBe('a reset has no field nme: did you mean name?')
  expect(texts[3]).toBe('chaos has no field probabilty: did you mean probability?')
})

test('a call with a body that is too large is answered 413', async () => {
  const answer = await testing('POST', '/faults', { name: 'x'.repeat(1_100_000), status: 503 })
  expect([answer.status, answer.body.kind]).toEqual([413, 'Status'])
})

test('users who are no administrators may not use it', async () => {
  expect((await send('POST', '/binnacle/testing/reset', {}, 'bob-token')).status).toBe(403)
})

test('without --testing there is no such path', async () => {
  const plain = await startBinnacleProcess('--storage=memory')
  expect((await sendRequest(plain, '/binnacle/testing/clock', { token: 'admin-token' })).status).toBe(404)
  await plain.stop()
})
