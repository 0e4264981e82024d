// Servers leave nothing behind: no socket, timer, file or memory of those that were stopped, nothing of a process that forgot
// to stop one or was killed. BINNACLE_STARTS sets how often a server is started, BINNACLE_COPIES how often it
// is copied and reset: `npm run test:clients` takes 1,000.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBinnacle } from '../../src/testing/index.js'

const STARTS = Number(process.env['BINNACLE_STARTS'] ?? 6)
const COPIES = Number(process.env['BINNACLE_COPIES'] ?? 4)
const folder = mkdtempSync(join(tmpdir(), 'binnacle-leaks-'))
const script = join(folder, 'forgets.mjs')

beforeAll(() => {
  const library = fileURLToPath(new URL('../../dist/bundle/testing.cjs', import.meta.url))
  writeFileSync(
    script,
    `import testing from ${JSON.stringify(library)}
const [, , stays, folder] = process.argv
const server = await testing.startBinnacle(folder ? { storage: { folder } } : {})
const file = await server.kubeconfigFile()
await server.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'written' } })
console.log(JSON.stringify({ port: new URL(server.url).port, file }))
if (stays === 'stays') setInterval(() => {}, 1000)
`,
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test(`${STARTS} servers leave no socket, timer, file or memory`, { timeout: 60_000 + STARTS * 1000 }, async () => {
  const cycle = async (): Promise<void> => {
    const server = await startBinnacle({ protocol: 'http' })
    const fork = await server.fork()
    await fork.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } })
    const watch = await server.fetch('/api/v1/configmaps?watch=true')
    await server.kubeconfigFile()
    await server.reset()
    await watch.text()
    await Promise.all([fork.stop(), server.stop()])
  }
  // Code, and what is computed once for a process.
  for (let i = 0; i < 3; i++) await cycle()
  const before = await held()
  for (let i = 0; i < STARTS; i++) await cycle()
  const after = await held()
  expect({ ...after, megabytes: 0 }).toEqual({ ...before, megabytes: 0 })
  // A server that is not freed holds about two megabytes. Code that was optimized meanwhile is not a leak.
  expect(after.megabytes - before.megabytes).toBeLessThan(Math.min(8 + STARTS / 20, 30))
})

test(`${COPIES} copies and resets of one server leave nothing`, { timeout: 60_000 + COPIES * 500 }, async () => {
  const prepared = await startBinnacle({ protocol: 'http' })
  const kept = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: 'default' } }
  await prepared.apply(kept)
  prepared.snapshot('prepared')
  const cycle = async (): Promise<void> => {
    const copy = await prepared.fork()
    await copy.delete(kept)
    await prepared.delete(kept)
    await Promise.all([copy.stop(), prepared.reset('prepared')])
    await prepared.get(kept)
  }
  for (let i = 0; i < 3; i++) await cycle()
  const before = await held()
  for (let i = 0; i < COPIES; i++) await cycle()
  const after = await held()
  expect(after.files).toBeLessThanOrEqual(before.files + 2)
  expect(after.sockets.length).toBeLessThanOrEqual(before.sockets.length + 2)
  expect(after.megabytes - before.megabytes).toBeLessThan(Math.min(8 + COPIES / 20, 30))
  await prepared.stop()
  expect((await held()).sockets).toEqual([])
})

const PARALLEL = Math.min(COPIES, 100)

test(`${PARALLEL} tests at once, each on its own copy, see their own objects only`, {
  timeout: 60_000 + PARALLEL * 2000,
}, async () => {
  const prepared = await startBinnacle({ protocol: 'http' })
  await Promise.all(
    Array.from({ length: PARALLEL }, async (_, i) => {
      await using copy = await prepared.fork()
      const maps = copy.client.resource('v1', 'ConfigMap').namespace('default')
      await maps.create({ metadata: { name: `of-${i}` } })
      expect((await maps.list()).items.map(({ metadata }) => metadata.name)).toEqual([`of-${i}`])
    }),
  )
  expect((await prepared.client.resource('v1', 'ConfigMap').namespace('default').list()).items).toEqual([])
  await prepared.stop()
})

test('a process that forgets to stop its server ends by itself, and leaves no file', async () => {
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const { file } = await firstLine(child.stdout)
  expect(await ended).toEqual([0, null])
  expect(existsSync(dirname(file))).toBe(false)
})

test('of a process that was killed nothing runs on, and the next one removes its file', async () => {
  const child = spawn(process.execPath, [script, 'stays'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const { file, port } = await firstLine(child.stdout)
  child.kill('SIGKILL')
  await ended
  const [error] = (await once(connect(port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ECONNREFUSED')
  const server = await startBinnacle({ protocol: 'http' })
  await server.kubeconfigFile()
  await server.stop()
  expect(existsSync(dirname(file))).toBe(false)
})

test.each([
  ['forgets to stop its server', 'ends', undefined],
  ['was killed', 'stays', 'SIGKILL'],
] as const)('what a process that %s has written to a folder is found there', async (_, stays, signal) => {
  const data = join(folder, stays)
  const child = spawn(process.execPath, [script, stays, data], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await firstLine(child.stdout)
  if (signal) child.kill(signal)
  expect(await ended).toEqual(signal ? [null, signal] : [0, null])
  await using server = await startBinnacle({ protocol: 'http', storage: { folder: data } })
  await server.get({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'written' } })
})

async function firstLine(stream: NodeJS.ReadableStream): Promise<{ readonly file: string; readonly port: number }> {
  const [line] = (await once(createInterface(stream), 'line')) as [string]
  return JSON.parse(line) as { file: string; port: number }
}

/** What the process holds once everything that can be freed is. */
async function held() {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const resources = (): string[] =>
    process.getActiveResourcesInfo().filter(kind => kind === 'TCPSocketWrap' || kind === 'TCPServerWrap')
  // Sockets close in the turns after a stop.
  for (let i = 0; i < 50 && resources().length > 0; i++) await sleep(20)
  for (let i = 0; i < 5; i++) {
    collect()
    await sleep(10)
  }
  return {
    sockets: resources(),
    files: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
    folders: readdirSync(tmpdir()).filter(name => name.startsWith(`binnacle-testing-${process.pid}-`)),
    megabytes: process.memoryUsage().heapUsed / 1024 / 1024,
  }
}
