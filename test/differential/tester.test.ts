// The differential tester: repeats its work by a seed, makes differences small, and checks laws without a reference.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'

const tools = new URL('../../tools/differential/', import.meta.url)
const load = async <T>(name: string): Promise<T> => (await import(new URL(name, tools).href)) as T

interface Step {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}
interface Scenario {
  readonly steps: readonly Step[]
}
type Area = (random: unknown, ask: () => Promise<{ status: number }>) => Scenario | Promise<Scenario>

const AREA_NAMES = [
  'objects',
  'patches',
  'recordings',
  'lists',
  'applies',
  'definitions',
  'rules',
  'policies',
  'documents',
  'webhooks',
]

test.each(AREA_NAMES)('%s makes the same scenario from the same seed, and another from another', async name => {
  const { AREAS } = await load<{ AREAS: Record<string, Area> }>('areas.mjs')
  const { createRandom } = await load<{ createRandom(seed: number): unknown }>('random.mjs')
  const make = async (seed: number): Promise<string> =>
    JSON.stringify((await AREAS[name]!(createRandom(seed), async () => ({ status: 201 }))).steps)
  expect(await make(5)).toBe(await make(5))
  expect(await make(5)).not.toBe(await make(6))
})

test('a difference is shrunk to the steps and members that it needs', async () => {
  const { shrink } = await load<{
    shrink(
      scenario: Scenario,
      difference: object,
      differs: (s: Scenario) => Promise<object | undefined>,
    ): Promise<{ scenario: Scenario }>
  }>('shrink.mjs')
  const step = (path: string, body?: unknown): Step => ({ method: 'POST', path, body })
  const differs = async ({ steps }: Scenario): Promise<object | undefined> => {
    const index = steps.findIndex(({ body }) => JSON.stringify(body ?? null).includes('"bad":1'))
    const isMade = steps.some(({ path }) => path === '/made')
    return index >= 0 && isMade
      ? { index, got: { status: 200 }, want: { status: 422 }, found: ['/status: got 200 want 422'] }
      : undefined
  }
  const scenario = {
    steps: [step('/made'), step('/x', { a: 1 }), step('/y', { deep: { bad: 1, good: 2 }, more: [1, 2] }), step('/z')],
  }
  const shrunk = await shrink(scenario, (await differs(scenario))!, differs)
  expect(shrunk.scenario.steps).toEqual([step('/made'), step('/y', { deep: { bad: 1 } })])
})

test('references to the answers of other steps stay right when a step is left out', async () => {
  const { without } = await load<{ without(scenario: Scenario, index: number): Scenario }>('shrink.mjs')
  const scenario = { steps: ['/a', '/b', '/c?rv={{0.x}}', '/d?rv={{2.y}}'].map(path => ({ method: 'GET', path })) }
  expect(without(scenario, 1).steps.map(({ path }) => path)).toEqual(['/a', '/c?rv={{0.x}}', '/d?rv={{1.y}}'])
})

test('a get that differs from the write before it, and a 500, break laws', async () => {
  const { brokenLaws } = await load<{ brokenLaws(scenario: Scenario, results: object[]): string[] }>('laws.mjs')
  const steps = [
    { method: 'POST', path: '/p' },
    { method: 'GET', path: '/p/a' },
    { method: 'GET', path: '/q' },
  ]
  const object = { metadata: { name: 'a' }, spec: 1 }
  const broken = brokenLaws({ steps }, [
    { status: 201, body: object },
    { status: 200, body: { ...object, spec: 2 } },
    { status: 500, body: { message: 'something went wrong in the server; its log says more' } },
  ])
  expect(broken).toHaveLength(2)
})

let server: BinnacleProcess
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'differential-'))
  server = await startBinnacleProcess('--storage=memory')
}, 60_000)
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('generated work breaks no law', async () => {
  const args = ['--server', server.url, '--token', 'admin-token', '--seed', '1', '--minutes', '0.05', '--out', folder]
  const child = spawn(process.execPath, [fileURLToPath(new URL('main.mjs', tools)), ...args])
  let output = ''
  child.stdout.on('data', chunk => (output += String(chunk)))
  child.stderr.on('data', chunk => (output += String(chunk)))
  await new Promise(resolve => child.once('exit', resolve))
  expect(output).toMatch(/[1-9]\d* scenarios, [1-9]\d* requests, 0 kinds of difference/)
}, 120_000)
