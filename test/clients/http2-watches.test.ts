// Thousands of watches over a few HTTP/2 connections, like those of a proxy with many clients.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { type Proxy, startProxy } from '../components/proxy.js'
import { sendRequest } from '../server/request.js'

const token = 'admin-token'
const HEADERS = { authorization: `Bearer ${token}`, accept: 'application/json' }

let server: BinnacleProcess
const sessions: ClientHttp2Session[] = []
beforeAll(async () => {
  server = await startBinnacleProcess('--storage=memory')
})
afterEach(() => {
  for (const session of sessions.splice(0)) session.destroy()
})
afterAll(() => server.kill())

async function open(url = server.url, settings = {}): Promise<ClientHttp2Session> {
  const session = connect(url, { ca: server.ca, settings })
  session.on('error', () => {})
  sessions.push(session)
  await once(session, 'connect')
  return session
}

async function newNamespace(name: string): Promise<string> {
  await sendRequest(server, '/api/v1/namespaces', { method: 'POST', token, body: { metadata: { name } } })
  return `/api/v1/namespaces/${name}/configmaps`
}
const create = (path: string, name: string, data = {}) =>
  sendRequest(server, path, { method: 'POST', token, body: { metadata: { name }, data } })

/** A watch that emits its lines; resolves when it has begun, `ended` when the server ends it. */
async function watch(
  session: ClientHttp2Session,
  path: string,
  onLine: (line: string) => void,
): Promise<{ stream: ClientHttp2Stream; ended: Promise<void> }> {
  const stream = session.request({ ...HEADERS, ':path': path })
  stream.on('error', () => {})
  const ended = new Promise<void>(resolve => stream.once('end', resolve))
  const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
  if (headers[':status'] !== 200) throw new Error(`the watch was answered with ${headers[':status']}`)
  let rest = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = text.split('\n')
    lines[0] = rest + lines[0]!
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  })
  return { stream, ended }
}

/** The names of all added objects from now on; the watcher resumes at its position when its watch ends. */
async function followNames(
  session: ClientHttp2Session,
  path: string,
): Promise<{ names: string[]; first: ClientHttp2Stream }> {
  const names: string[] = []
  let version = ''
  const take = (line: string): void => {
    const { type, object } = JSON.parse(line)
    // Any other event is added to the names, so that the comparison fails and shows it.
    names.push(type === 'ADDED' ? object.metadata.name : line)
    version = object.metadata.resourceVersion
  }
  const again = async (ended: Promise<void>): Promise<void> => {
    await ended
    const next = await watch(session, `${path}?watch=true&resourceVersion=${version}`, take)
    await again(next.ended)
  }
  const { stream, ended } = await watch(session, `${path}?watch=true`, take)
  again(ended).catch((error: unknown) => names.push(String(error)))
  return { names, first: stream }
}

const residentMb = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024
const openWatches = async (): Promise<number> => {
  const { text } = await sendRequest(server, '/metrics', { token })
  const counts = text.matchAll(/^apiserver_longrunning_requests\{.*verb="WATCH".*\} (\d+)/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

test('2,000 watches over four connections each get each of their events, in order', async () => {
  const [connections, each, writes] = [4, 500, 20]
  const paths = await Promise.all(['many-a', 'many-b'].map(newNamespace))
  const seen: string[][] = []
  await Promise.all(
    Array.from({ length: connections }, async (_, i) => {
      const session = await open()
      const path = paths[i % 2]!
      await Promise.all(
        Array.from({ length: each }, () => {
          const names: string[] = []
          seen.push(names)
          return watch(session, `${path}?watch=true`, line => {
            const { type, object } = JSON.parse(line)
            names.push(`${type} ${object.metadata.namespace} ${object.metadata.name}`)
          })
        }),
      )
    }),
  )
  expect(await openWatches()).toBe(connections * each)
  for (let i = 0; i < writes; i++) await Promise.all(paths.map(path => create(path, `c-${i}`)))
  await expect.poll(() => seen.filter(names => names.length < writes).length, { timeout: 20_000 }).toBe(0)

  const expected = (namespace: string) => Array.from({ length: writes }, (_, i) => `ADDED ${namespace} c-${i}`)
  const distinct = new Set(seen.map(names => names.join('\n')))
  expect(distinct).toEqual(new Set(['many-a', 'many-b'].map(name => expected(name).join('\n'))))

  for (const session of sessions) session.destroy()
  await expect.poll(openWatches, { timeout: 10_000 }).toBe(0)
})

test('watchers that do not read block neither writers nor other watchers, and use no memory', async () => {
  const path = await newNamespace('stalled')
  const [stalled, steady] = await Promise.all([open(), open()])
  const followers = await Promise.all(Array.from({ length: 200 }, () => followNames(stalled, path)))
  for (const { first } of followers) first.pause()
  const reader = await followNames(steady, path)
  const before = residentMb()
  // 20 MB for each watcher that does not read: 4 GB, if their events were kept in queues.
  const data = { text: 'v'.repeat(100 * 1024) }
  const written = Array.from({ length: 200 }, (_, i) => `c-${i}`)
  for (const name of written) expect((await create(path, name, data)).status).toBe(201)
  await expect.poll(() => reader.names, { timeout: 20_000 }).toEqual(written)
  // The objects and the recent events are in memory.
  expect(residentMb() - before).toBeLessThan(300)

  // A watcher that reads again misses nothing: it resumes from its last event after the server has ended its watch.
  const [late] = followers
  late!.first.resume()
  await expect.poll(() => late!.names, { timeout: 20_000 }).toEqual(written)
})

test('a cancelled watch ends at once, while others on the connection continue', async () => {
  const path = await newNamespace('given-up')
  const session = await open()
  let seen = 0
  const watched = `${path}?watch=true`
  await watch(session, watched, () => void seen++)
  const before = await openWatches()
  const watches = await Promise.all(Array.from({ length: 100 }, () => watch(session, watched, () => {})))
  expect(await openWatches()).toBe(before + 100)
  for (const { stream } of watches) stream.close(constants.NGHTTP2_CANCEL)
  await expect.poll(openWatches, { timeout: 5000 }).toBe(before)
  await create(path, 'after')
  await expect.poll(() => seen).toBe(1)
})

test('requests are answered while their connection carries a thousand watches', async () => {
  const path = await newNamespace('busy')
  const session = await open()
  let seen = 0
  await Promise.all(Array.from({ length: 900 }, () => watch(session, `${path}?watch=true`, () => void seen++)))
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const stream = session.request({ ...HEADERS, ':path': path })
      const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
      stream.resume()
      await once(stream, 'end')
      return headers[':status']
    }),
  )
  expect(new Set(statuses)).toEqual(new Set([200]))
  await create(path, 'one')
  await expect.poll(() => seen, { timeout: 10_000 }).toBe(900)
})

test('a connection that breaks or stalls does not affect the others', async () => {
  const path = await newNamespace('half-open')
  const proxy: Proxy = await startProxy({ port: Number(new URL(server.url).port) })
  try {
    const steady = await open()
    let seen = 0
    await watch(steady, `${path}?watch=true`, () => void seen++)
    const before = await openWatches()
    const viaProxy = `https://127.0.0.1:${proxy.port}`
    const silent = await open(viaProxy)
    await Promise.all(Array.from({ length: 100 }, () => watch(silent, `${path}?watch=true`, () => {})))
    // No data and no error, as when a laptop is closed.
    proxy.stall('to-client')
    proxy.stall('to-server')
    const begin = performance.now()
    for (let i = 0; i < 50; i++) await create(path, `c-${i}`, { text: 'v'.repeat(10_000) })
    await expect.poll(() => seen).toBe(50)
    expect(performance.now() - begin).toBeLessThan(20_000)
    proxy.cut()
    await expect.poll(openWatches, { timeout: 10_000 }).toBe(before)
  } finally {
    await proxy.close()
  }
})
