// A test server with a folder: a later server finds its objects, and copies and resets work as in memory.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startBinnacle, type TestServer } from '../../src/testing/index.js'

const directory = mkdtempSync(join(tmpdir(), 'binnacle-test-folder-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const start = (name: string, snapshot?: string): Promise<TestServer> =>
  startBinnacle({
    protocol: 'http',
    storage: { folder: join(directory, name) },
    ...(snapshot !== undefined && { snapshot }),
  })

const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gears.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'gears', kind: 'Gear' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

async function configMaps(server: TestServer): Promise<Record<string, unknown>> {
  const { items } = await server.client.resource('v1', 'ConfigMap').namespace('default').list()
  const own = items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
  return Object.fromEntries(own.map(({ metadata, data }) => [metadata.name, data]))
}

test('a server that is started again on the folder has the objects, custom ones included', async () => {
  const first = await start('again')
  const [, kept] = await first.apply([definition, configMap('kept', { a: '1' })])
  await first.apply({ apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'one' } })
  const written = first.resourceVersion()
  await first.stop()

  await using second = await start('again')
  const found = await second.get(configMap('kept'))
  expect([found.metadata.uid, found.metadata.resourceVersion]).toEqual([
    kept!.metadata.uid,
    kept!.metadata.resourceVersion,
  ])
  await second.get({ apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'one' } })
  expect(Number(second.resourceVersion())).toBeGreaterThanOrEqual(Number(written))
})

test('a reset goes back to the start or to a snapshot, and a resumed watch is answered 410', async () => {
  const before = await start('reset')
  await before.apply([configMap('changed', { a: '1' }), configMap('deleted')])
  await before.stop()

  await using server = await start('reset')
  await server.apply([configMap('changed', { a: '2' }), configMap('created')])
  await server.delete(configMap('deleted'))
  server.snapshot('later')
  const path = `/api/v1/configmaps?watch=true&resourceVersion=${server.resourceVersion()}`
  const watch = await server.fetch(path)
  await server.reset()
  expect(await watch.text()).toBe('')
  expect(await (await server.fetch(path)).text()).toContain('"code":410')
  expect(await configMaps(server)).toEqual({ changed: { a: '1' }, deleted: undefined })
  // Again, before any request has reached the server behind it.
  await server.reset()
  await server.reset('later')
  expect(await configMaps(server)).toEqual({ changed: { a: '2' }, created: undefined })
  await server.compactHistory()
  expect(await configMaps(server)).toEqual({ changed: { a: '2' }, created: undefined })
})

test('what a reset has restored is what a later server finds', async () => {
  const first = await start('restored')
  await first.apply(configMap('gone'))
  await first.reset()
  await first.stop()
  await using second = await start('restored')
  expect(await configMaps(second)).toEqual({})
})

test('requests during a reset wait for it', async () => {
  await using server = await start('during')
  await server.apply(configMap('gone'))
  const [, during] = await Promise.all([server.reset(), configMaps(server)])
  expect(during).toEqual({})
})

test('a fork is a copy in memory', async () => {
  await using server = await start('fork')
  await server.apply(configMap('shared'))
  await using fork = await server.fork()
  await fork.apply(configMap('only-in-fork'))
  expect(await configMaps(fork)).toEqual({ shared: undefined, 'only-in-fork': undefined })
  expect(await configMaps(server)).toEqual({ shared: undefined })
})

test('a record has the changes', async () => {
  await using server = await start('record')
  const record = server.record()
  await server.apply(configMap('created'))
  expect(record.changes().filter(({ key }) => key.startsWith('/configmaps/default/created'))).toEqual([
    { key: '/configmaps/default/created', type: 'created', fields: [] },
  ])
})

test('a snapshot from a file begins a new folder, and is refused where objects are', async () => {
  const file = join(directory, 'snapshot')
  const first = await start('saved')
  await first.apply(configMap('saved', { a: '1' }))
  await first.saveSnapshot(file)
  await first.stop()
  await expect(start('saved', file)).rejects.toThrow(
    /snapshot: the folder .*saved has objects already: leave out snapshot, or name an empty folder/,
  )
  await using second = await start('from-snapshot', file)
  expect(await configMaps(second)).toEqual({ saved: { a: '1' } })
})

test('a folder that a server has open is refused, and a port that is taken leaves it free', async () => {
  const server = await start('taken')
  await expect(start('taken')).rejects.toThrow(/in use/)
  const { port } = new URL(server.url)
  const other = { protocol: 'http', port: Number(port), storage: { folder: join(directory, 'free') } } as const
  await expect(startBinnacle(other)).rejects.toThrow('EADDRINUSE')
  await (await start('free')).stop()
  await server.stop()
})

test('a wrong storage throws, with the right one named', async () => {
  const startOn = (storage: unknown) => startBinnacle({ storage } as object)
  await expect(startOn('disk')).rejects.toThrow('storage: "disk": it must be "memory" or { folder: "path" }')
  await expect(startOn({ folder: '' })).rejects.toThrow('it must be "memory" or { folder: "path" }')
  await expect(startOn(null)).rejects.toThrow('storage: null: it must be')
  await expect(startOn({ folder: directory, prefix: 'a' })).rejects.toThrow('storage has no field prefix')
  await expect(startOn({ etcd: ['http://127.0.0.1:2379'] })).rejects.toThrow("startBinnacle of 'binnacle' has etcd")
})
