// The part of `bench -- testing` that runs in the process of a test: Binnacle, or answers written down by hand.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { cpuSeconds, mostResidentBytes } from './processes.mjs'
import { median } from './side-by-side.mjs'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'

/** What one test does, by any client. */
export async function oneTest(send) {
  for (let i = 0; i < 10; i++) await send('POST', CONFIGMAPS, { metadata: { name: `c-${i}` }, data: { size: `${i}` } })
  await send('GET', `${CONFIGMAPS}/c-3`)
  await send('GET', CONFIGMAPS)
}

const spent = () => cpuSeconds(process.pid) * 1000

async function timed(action) {
  const [cpu, begin] = [spent(), performance.now()]
  const result = await action()
  return { result, ms: performance.now() - begin, cpu: spent() - cpu }
}

async function repeated(count, action) {
  const all = []
  for (let i = 0; i < count; i++) all.push(await timed(action))
  return { ms: median(all.map(({ ms }) => ms)), cpu: median(all.map(({ cpu }) => cpu)) }
}

async function binnacle() {
  const first = await timed(async () => {
    const { startBinnacle } = await import('../dist/bundle/testing.cjs')
    return startBinnacle()
  })
  const { startBinnacle } = await import('../dist/bundle/testing.cjs')
  const later = await repeated(9, async () => void (await startBinnacle()).stop())
  const prepared = first.result
  const through = server => async (method, path, body) => {
    const headers = { 'content-type': 'application/json' }
    const response = await server.fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(await response.text())
    return response.text()
  }
  const copies = []
  const forked = await repeated(25, async () => void copies.push(await prepared.fork()))
  for (const copy of copies) await copy.stop()
  const send = through(prepared)
  const reset = await repeated(25, () => prepared.reset())
  const afterRequest = []
  for (let i = 0; i < 25; i++) {
    await send('POST', CONFIGMAPS, { metadata: { name: 'a' } })
    afterRequest.push(await timed(() => prepared.reset()))
  }
  const afterReset = await repeated(20, async () => {
    await prepared.reset()
    await oneTest(send)
  })
  const test = await repeated(20, async () => {
    await send('DELETE', CONFIGMAPS)
    await oneTest(send)
  })
  const figures = {
    'ready, ms': first.ms,
    'processor time until then, ms': first.cpu,
    'ready, later ones in the process, ms': later.ms,
    'processor time of a later one, ms': later.cpu,
    'fork, ms': forked.ms,
    'processor time of a fork, ms': forked.cpu,
    'reset, ms': reset.ms,
    'reset straight after a request, ms': median(afterRequest.map(({ ms }) => ms)),
    'processor time of that reset, ms': median(afterRequest.map(({ cpu }) => cpu)),
    'a test after a reset, ms': afterReset.ms,
    'processor time of a test after a reset, ms': afterReset.cpu,
    'a test after deleting, ms': test.ms,
    'processor time of a test after deleting, ms': test.cpu,
    'memory at most, MB': mostResidentBytes(process.pid) / 1e6,
  }
  await prepared.stop()
  return figures
}

/** As mocks of HTTP work: the test says what is answered, and nothing is checked or remembered. */
async function mock() {
  const serve = async () => {
    const server = createServer((request, response) => {
      request.resume()
      request.on('end', () => {
        response.setHeader('content-type', 'application/json')
        response.end('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c-3","namespace":"default"}}')
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  const through = server => async (method, path, body) => {
    const url = `http://127.0.0.1:${server.address().port}${path}`
    return (await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) })).text()
  }
  const first = await timed(serve)
  first.result.close()
  const test = await repeated(20, async () => {
    const server = await serve()
    await oneTest(through(server))
    server.closeAllConnections()
    server.close()
  })
  return {
    'ready, ms': first.ms,
    'processor time until then, ms': first.cpu,
    'a test after deleting, ms': test.ms,
    'processor time of a test after deleting, ms': test.cpu,
    'memory at most, MB': mostResidentBytes(process.pid) / 1e6,
  }
}

if (process.send && process.argv[2]) process.send(await { binnacle, mock }[process.argv[2]]())
