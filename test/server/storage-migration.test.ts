// Migration to another storage version on disk, with a server that is killed during it.
import { Agent } from 'node:https'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BinnacleProcess } from '../components/binnacle.js'
import { dataDirectoryForEachTest } from '../components/data-directory.js'
import { sendRequest } from './request.js'

const CARRIED_OUT = [
  '--runtime-config=storagemigration.k8s.io/v1beta1=true',
  '--controllers=storage-version-migrator-controller',
  // What a killed process has written is kept by the system.
  '--unsafe-no-fsync',
]
const token = 'admin-token'
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const CRD = `${CRDS}/widgets.example.com`
const MIGRATIONS = '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations'
const widgets = (version: string) => `/apis/example.com/${version}/namespaces/default/widgets`

const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } },
    },
  },
})

const { start } = dataDirectoryForEachTest('migration')

/** The many requests share a few connections. */
let agent: Agent
beforeEach(() => {
  agent = new Agent({ keepAlive: true })
})
afterEach(() => agent.destroy())

const send = async (server: BinnacleProcess, method: string, path: string, body: unknown) => {
  const answer = await sendRequest(server, path, { method, token, body, agent })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}
const read = async (server: BinnacleProcess, path: string) => (await sendRequest(server, path, { token, agent })).body

interface Definition {
  readonly spec: { versions: unknown[] }
  readonly status: { storedVersions: string[] }
}

/** Changes the definition or its status: read, change, write. */
async function changeDefinition(server: BinnacleProcess, path: string, change: (definition: Definition) => void) {
  const definition: Definition = await read(server, CRD)
  change(definition)
  return sendRequest(server, path, { method: 'PUT', token, body: definition, agent })
}

/** Widgets that are stored as v1, with a definition whose storage version is v2. */
async function storeWidgets(server: BinnacleProcess, count: number): Promise<void> {
  await send(server, 'POST', CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      versions: [version('v1', true), version('v2', false)],
    },
  })
  const numbers = Array.from({ length: count }, (_, n) => n).values()
  const worker = async () => {
    for (const n of numbers) {
      const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: `w${n}` }, spec: { n } }
      await send(server, 'POST', widgets('v1'), object)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  await changeDefinition(server, CRD, ({ spec }) => (spec.versions = [version('v1', false), version('v2', true)]))
  expect((await read(server, CRD)).status.storedVersions).toEqual(['v1', 'v2'])
}

const migration = {
  apiVersion: 'storagemigration.k8s.io/v1beta1',
  kind: 'StorageVersionMigration',
  metadata: { name: 'widgets' },
  spec: { resource: { group: 'example.com', resource: 'widgets' } },
}

const conditionsOf = async (server: BinnacleProcess): Promise<string[]> =>
  ((await read(server, `${MIGRATIONS}/widgets`)).status.conditions ?? []).map(
    ({ type, status }: { type: string; status: string }) => `${type}=${status}`,
  )

/** Objects stored in a removed version cannot be decoded. */
async function removeOldVersion(server: BinnacleProcess): Promise<void> {
  const removed = await changeDefinition(server, CRD, ({ spec }) => (spec.versions = [version('v2', true)]))
  expect(removed).toMatchObject({ status: 200 })
}

test('a migration that a killed server had begun is finished by the next one', async () => {
  // Three pages of the controller.
  const COUNT = 600
  const first = await start(...CARRIED_OUT)
  await storeWidgets(first, COUNT)
  const { resourceVersion } = (await read(first, widgets('v2'))).metadata
  await send(first, 'POST', MIGRATIONS, migration)
  // The first of them has been rewritten.
  await expect
    .poll(async () => Number((await read(first, `${widgets('v2')}/w0`)).metadata.resourceVersion), {
      interval: 1,
      timeout: 20_000,
    })
    .toBeGreaterThan(Number(resourceVersion))
  await first.kill()

  const second = await start(...CARRIED_OUT)
  await expect.poll(() => conditionsOf(second), { timeout: 20_000 }).toEqual(['Running=False', 'Succeeded=True'])
  expect((await read(second, CRD)).status.storedVersions).toEqual(['v2'])
  await removeOldVersion(second)
  const { items } = await read(second, widgets('v2'))
  expect(items.map(({ spec }: { spec: { n: number } }) => spec.n).toSorted((a: number, b: number) => a - b)).toEqual(
    Array.from({ length: COUNT }, (_, n) => n),
  )
})

test('storage can be migrated by hand', async () => {
  const server = await start()
  expect((await sendRequest(server, MIGRATIONS, { token })).status).toBe(404)
  await storeWidgets(server, 2)
  const early = await changeDefinition(server, CRD, ({ spec }) => (spec.versions = [version('v2', true)]))
  expect(early.status).toBe(422)
  expect(early.body.message).toContain('status.storedVersions[0]: Invalid value: "v1": missing from spec.versions')
  for (const item of (await read(server, widgets('v2'))).items) {
    await send(server, 'PUT', `${widgets('v2')}/${item.metadata.name}`, item)
  }
  const cleared = await changeDefinition(server, `${CRD}/status`, ({ status }) => (status.storedVersions = ['v2']))
  expect(cleared.status).toBe(200)
  await removeOldVersion(server)
  expect((await read(server, widgets('v2'))).items).toHaveLength(2)
})
