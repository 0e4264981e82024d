// What a test server reports of a test that fails.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startBinnacle, type TestServer } from '../../src/testing/index.js'

let server: TestServer
beforeAll(async () => {
  server = await startBinnacle({ protocol: 'http' })
})
afterAll(() => server.stop())

const configMap = (name: string, data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})
const isConfigMap = ({ key }: { readonly key: string }): boolean => key.includes('/configmaps/')

test('a recording has the requests and the changes of objects since it began', async () => {
  await server.apply([configMap('changed', { a: '1', b: '1' }), configMap('deleted', {})])
  const recording = server.record()
  await server.apply([configMap('changed', { a: '2', b: '1' }), configMap('created', {})])
  await server.delete(configMap('deleted', {}))
  expect(recording.requests.map(({ verb, name }) => `${verb} ${name}`)).toEqual([
    'patch changed',
    'patch created',
    'delete deleted',
  ])
  expect(recording.changes().filter(isConfigMap)).toEqual([
    { key: '/configmaps/default/deleted', type: 'deleted', fields: [] },
    {
      key: '/configmaps/default/changed',
      type: 'changed',
      fields: [{ field: 'data.a', before: '1', after: '2' }],
    },
    { key: '/configmaps/default/created', type: 'created', fields: [] },
  ])
})

test('a test that fails reports what it did', async () => {
  const failing = server.recorded(async () => {
    await server.apply(configMap('seen', { text: 'x'.repeat(1000) }))
    throw new Error('the operator did nothing')
  })
  await expect(failing).rejects.toThrow(
    /^the operator did nothing\n\nAPI requests \(the last 1 of 1\):\n {2}201 PATCH \/api\/v1\/namespaces\/default\/configmaps\/seen\?.*\nObjects that differ from the beginning \(1\):\n {2}created \/configmaps\/default\/seen$/,
  )
})

test('a report leaves out what the server creates for itself after its start', async () => {
  const fresh = await startBinnacle()
  const report = fresh.recorded(async () => {
    await fresh.apply([configMap('seen', {}), { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }])
    await fresh.waitFor(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-root-ca.crt', namespace: 'team' } },
      'exists',
    )
    throw new Error('no')
  })
  await expect(report).rejects.toThrow(
    /\nObjects that differ from the beginning \(2\):\n {2}created \/configmaps\/default\/seen\n {2}created \/namespaces\/team$/,
  )
  await fresh.stop()
})

test('the report of a test that failed is printed, in Vitest and in node:test', async () => {
  const printed: string[] = []
  vi.spyOn(console, 'error').mockImplementation((text: string) => void printed.push(text))
  try {
    const after: (() => void)[] = []
    server.reportFailure({ onTestFailed: run => void after.push(run) })
    server.reportFailure({ passed: false, after: run => void after.push(run) })
    server.reportFailure({ passed: true, after: run => void after.push(run) })
    await server.apply(configMap('reported', {}))
    for (const run of after) run()
    expect(printed).toHaveLength(2)
    for (const text of printed) expect(text).toMatch(/201 PATCH .*reported[^]*created \/configmaps\/default\/reported$/)
    expect(() => server.reportFailure({} as never)).toThrow('elsewhere use server.recorded')
  } finally {
    vi.restoreAllMocks()
  }
})

test('a report can be asked for after the server has stopped', async () => {
  const copy = await server.fork()
  const recording = copy.record()
  await copy.apply(configMap('in-copy', {}))
  await copy.stop()
  expect(recording.report()).toMatch(/201 PATCH .*in-copy[^]*created \/configmaps\/default\/in-copy$/)
})

test('a test that passes gives its result', async () => {
  expect(await server.recorded(async () => 7)).toBe(7)
})

test('a recording that was stopped stays as it was', async () => {
  const recording = server.record()
  await server.apply(configMap('before-the-stop', {}))
  recording.stop()
  await server.apply(configMap('after-the-stop', {}))
  expect(recording.requests.map(({ name }) => name)).toEqual(['before-the-stop'])
  expect(recording.exchanges.map(({ method, status }) => [method, status])).toEqual([['PATCH', 201]])
  expect(recording.changes().map(({ key }) => key)).toEqual(['/configmaps/default/before-the-stop'])
})
