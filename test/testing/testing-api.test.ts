// The testing API of `binnacle serve --testing`, as programs in other languages use it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { sendRequest } from '../server/request.js'

let server: BinnacleProcess
const executable = fileURLToPath(new URL('../../bin/binnacle', import.meta.url))
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

test('a fork has faults, a clock and a log of requests of its own, and is stopped alone', async () => {
  const copies = await Promise.all([testing('POST', '/forks'), testing('POST', '/forks')])
  const [copy, other] = copies.map(({ body }) => body as Record<'id' | 'url' | 'token', string>)
  const inCopy = (method: string, path: string, body?: object) =>
    sendRequest({ url: copy!.url, ca: server.ca }, path, { method, body, token: copy!.token })
  await inCopy('POST', '/binnacle/testing/faults', { verb: 'get', resource: 'configmaps', status: 503 })
  await inCopy('POST', '/binnacle/testing/clock', { moveTo: '2100-01-01T00:00:00Z' })
  expect((await inCopy('GET', `${CONFIG_MAPS}/x`)).status).toBe(503)
  expect((await send('GET', `${CONFIG_MAPS}/x`)).status).toBe(404)
  const times = [await inCopy('GET', '/binnacle/testing/clock'), await testing('GET', '/clock')]
  expect(times.map(({ body }) => (body as { now: string }).now.slice(0, 4))).toEqual([
    '2100',
    expect.stringMatching(/^20[2-9]/),
  ])
  const { requests } = (await inCopy('GET', '/binnacle/testing/requests')).body as { requests: { path: string }[] }
  expect(requests.map(({ path }) => path)).toContain(`${CONFIG_MAPS}/x`)

  expect((await testing('DELETE', `/forks/${copy!.id}`)).status).toBe(200)
  await expect(inCopy('GET', `${CONFIG_MAPS}/x`)).rejects.toThrow('ECONNREFUSED')
  expect((await testing('DELETE', `/forks/${copy!.id}`)).body.message).toBe(
    `there is no fork ${copy!.id}: there are ${other!.id}`,
  )
  await testing('DELETE', '/forks')
})

test('a user is created with a kubeconfig', async () => {
  const { status, body } = await testing('POST', '/users', { name: 'jane', groups: ['system:masters'] })
  expect([status, body.name, body.kubeconfig]).toEqual([200, 'jane', expect.stringContaining(body.token as string)])
  expect((await send('GET', CONFIG_MAPS, undefined, body.token as string)).status).toBe(200)
})

test('a recording has the requests and the changes since it began, and a report', async () => {
  await create('before')
  await testing('POST', '/recording')
  await create('during')
  const { requests, changes, report } = (await testing('GET', '/recording')).body as {
    requests: { path: string; status: number }[]
    changes: object[]
    report: string
  }
  expect(requests.filter(({ path }) => path === CONFIG_MAPS).map(({ status }) => status)).toEqual([201])
  expect(changes).toEqual([{ key: '/configmaps/default/during', type: 'created', fields: [] }])
  expect(report).toContain(`201 POST ${CONFIG_MAPS}`)
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

test('with --stop-with-stdin, a server stops when standard input ends, or before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-stdin-'))
  const start = async () => {
    const flags = ['serve', '--testing', '--stop-with-stdin', '--secure-port=0', `--data-dir=${folder}`]
    const child = spawn(process.execPath, [executable, ...flags], { stdio: ['pipe', 'pipe', 'ignore'] })
    await once(child.stdout, 'data')
    return { child, exit: once(child, 'exit') }
  }
  try {
    const first = await start()
    first.child.stdin.end()
    expect(await first.exit).toEqual([0, null])
    const second = await start()
    second.child.kill('SIGTERM')
    expect(await second.exit).toEqual([0, null])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('without --testing there is no such path', async () => {
  const plain = await startBinnacleProcess('--storage=memory')
  expect((await sendRequest(plain, '/binnacle/testing/clock', { token: 'admin-token' })).status).toBe(404)
  await plain.stop()
})
