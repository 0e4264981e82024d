import { afterEach, describe, expect, it } from 'vitest'
import type { Attributes } from '../../admission/attributes.js'
import type { Admission } from '../../admission/chain.js'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import type { DefinitionStatus } from '../../crd/definition.js'
import { withoutTimes } from '../../crd/definitions.suite.js'
import { internalError, invalid } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { decodeStored } from '../../objects/stored-object.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import type { Store } from '../../storage/store.js'
import { builtinTypes } from '../../types/type-table.js'
import { systemObjects } from '../../verbs/system-writes.js'
import { type Controller, quietEnv } from '../common/controller.js'
import {
  body,
  DEFINITIONS,
  definitionAt,
  NO_QUERY,
  type Process,
  REQUEST,
  startProcess,
  stopProcesses,
} from '../crd/crd-process.suite.js'
import { startStorageMigration } from './storage-migration.js'

const MIGRATIONS = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'StorageVersionMigration')!
const WIDGETS = '/example.com/widgets/'
const COUNT = 450

const controllers: Controller[] = []
afterEach(async () => {
  for (const controller of controllers.splice(0)) controller.stop()
  await stopProcesses()
})

async function startWith(store: Store, onWidget?: (attributes: Attributes) => void): Promise<Process & Controller> {
  const admission: Partial<Admission> = {
    validate: attributes => {
      const { operation, resource } = attributes
      if (operation === 'UPDATE' && resource.group === 'example.com') onWidget?.(attributes)
    },
  }
  const process = await startProcess(store, admission)
  process.registry.put(MIGRATIONS)
  const kinds = { migrations: MIGRATIONS, definitions: DEFINITIONS }
  const controller = await startStorageMigration(process.context, process.registry, kinds, quietEnv())
  controllers.push(controller)
  return { ...process, ...controller }
}

const version = (name: string, storage: boolean): Value => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
})

/** Widgets of which `count` are stored as v1, in a definition that stores v2 by now. */
async function storeWidgets({ verbs, registry, context }: Process, count: number): Promise<void> {
  const definition: ApiObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Cluster',
      versions: [version('v1', true), version('v2', false)],
    },
  }
  await verbs.create(REQUEST, definitionAt(''), NO_QUERY, body(definition))
  const served = registry.find('example.com', 'v1', 'widgets')!
  for (let i = 0; i < count; i++) {
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: `w${i}` }, spec: { i } }
    await verbs.create(REQUEST, { ...served, namespace: '', name: '', subresource: '' }, NO_QUERY, body(widget))
  }
  await changeSpec({ verbs, registry, context }, spec => ({
    ...spec,
    versions: [version('v1', false), version('v2', true)],
  }))
}

async function changeSpec(
  { verbs, context }: Pick<Process, 'verbs' | 'context' | 'registry'>,
  change: (spec: ValueObject) => ValueObject,
): Promise<void> {
  const old = (await systemObjects(context, 'test').get(DEFINITIONS, '', 'widgets.example.com'))!
  const changed = { ...old, spec: change(old['spec'] as ValueObject) }
  await verbs.update(REQUEST, definitionAt('widgets.example.com'), NO_QUERY, body(changed))
}

const migrate = ({ verbs }: Process, name: string, resource = 'widgets') =>
  verbs.create(
    REQUEST,
    { kind: MIGRATIONS, version: MIGRATIONS.versions[0]!, namespace: '', name: '', subresource: '' },
    NO_QUERY,
    body({ metadata: { name }, spec: { resource: { group: 'example.com', resource } } }),
  )

const find = async (store: Store, key: string): Promise<ApiObject> => decodeStored((await store.get(key))!)

const statusOf = async (store: Store, name: string): Promise<ValueObject> =>
  withoutTimes((await find(store, `${MIGRATIONS.keyPrefix}${name}`))['status'] ?? {}) as ValueObject

const definitionStatus = async (store: Store): Promise<DefinitionStatus> =>
  withoutTimes(
    (await find(store, `${DEFINITIONS.keyPrefix}widgets.example.com`))['status']!,
  ) as unknown as DefinitionStatus

const versionsStored = async (store: Store): Promise<string[]> => {
  const { entries } = await store.range(WIDGETS)
  return entries.map(entry => decodeStored(entry).apiVersion)
}
const counted = (all: readonly string[], one: string): number => all.filter(each => each === one).length

const PATIENTLY = { timeout: 10_000 }

const COMPLETED = { type: 'Running', status: 'False', reason: 'MigrationCompleted', message: 'Migration completed' }
const SUCCEEDED = { type: 'Succeeded', status: 'True', reason: 'StorageVersionMigrationSucceeded', message: '' }
const failure = (message: string) => ({
  type: 'Failed',
  status: 'True',
  reason: 'StorageVersionMigrationFailed',
  message,
})

describe('a storage migration', { timeout: 20_000 }, () => {
  it('stores all objects in the storage version, and leaves only that one on the list', async () => {
    const store = createMemoryStore()
    const process = await startWith(store)
    await storeWidgets(process, COUNT)
    expect(counted(await versionsStored(store), 'example.com/v1')).toBe(COUNT)
    expect((await definitionStatus(store)).storedVersions).toEqual(['v1', 'v2'])
    const revision = String(await store.revision())
    await migrate(process, 'all')
    await expect
      .poll(async () => (await statusOf(store, 'all'))['conditions'], PATIENTLY)
      .toEqual([COMPLETED, SUCCEEDED])
    expect(Number((await statusOf(store, 'all'))['resourceVersion'])).toBeGreaterThanOrEqual(Number(revision))
    expect(counted(await versionsStored(store), 'example.com/v2')).toBe(COUNT)
    const { storedVersions, conditions } = await definitionStatus(store)
    expect(storedVersions).toEqual(['v2'])
    expect(conditions).toContainEqual({
      type: 'StorageMigrating',
      status: 'False',
      reason: 'MigrationSucceeded',
      message: 'The migration has succeeded and the stored versions have been updated',
      observedGeneration: 2,
    })
    const { metadata, ...content } = await find(store, `${WIDGETS}w7`)
    expect(content).toEqual({ apiVersion: 'example.com/v2', kind: 'Widget', spec: { i: 7 } })
    expect(metaOf({ metadata })).toMatchObject({ name: 'w7', generation: 1 })
  })

  it('writes nothing where there is nothing to change', async () => {
    const store = createMemoryStore()
    const process = await startWith(store)
    await storeWidgets(process, 3)
    await migrate(process, 'first')
    await expect.poll(async () => (await statusOf(store, 'first'))['conditions'], PATIENTLY).toContainEqual(SUCCEEDED)
    const before = (await store.range(WIDGETS)).entries.map(({ revision }) => revision)
    await migrate(process, 'second')
    await expect.poll(async () => (await statusOf(store, 'second'))['conditions'], PATIENTLY).toContainEqual(SUCCEEDED)
    expect((await store.range(WIDGETS)).entries.map(({ revision }) => revision)).toEqual(before)
  })

  it('that was interrupted continues when the server starts again', async () => {
    const store = createMemoryStore()
    let writes = 0
    const first = await startWith(store, () => {
      if (++writes === 50) first.stop()
    })
    await storeWidgets(first, COUNT)
    await migrate(first, 'all')
    await expect.poll(() => writes, PATIENTLY).toBeGreaterThanOrEqual(50)
    await first.idle()
    const half = await versionsStored(store)
    expect(counted(half, 'example.com/v1')).toBeGreaterThan(COUNT / 2)
    expect(counted(half, 'example.com/v2')).toBeGreaterThan(0)
    expect((await statusOf(store, 'all'))['conditions']).toEqual([
      { type: 'Running', status: 'True', reason: 'MigrationRunning', message: 'The migration is running' },
    ])
    const { resourceVersion } = await statusOf(store, 'all')
    await stopProcesses()
    await startWith(store)
    await expect
      .poll(async () => (await statusOf(store, 'all'))['conditions'], PATIENTLY)
      .toEqual([COMPLETED, SUCCEEDED])
    expect((await statusOf(store, 'all'))['resourceVersion']).toBe(resourceVersion)
    expect(counted(await versionsStored(store), 'example.com/v2')).toBe(COUNT)
    expect((await definitionStatus(store)).storedVersions).toEqual(['v2'])
  })

  it('leaves the list alone when the definition has changed meanwhile', async () => {
    const store = createMemoryStore()
    let writes = 0
    const process = await startWith(store, () => {
      if (++writes === 1)
        void changeSpec(process, spec => ({
          ...spec,
          conversion: { strategy: 'None' },
          names: { ...(spec['names'] as ValueObject), shortNames: ['wd'] },
        }))
    })
    await storeWidgets(process, COUNT)
    await migrate(process, 'all')
    await expect.poll(async () => (await statusOf(store, 'all'))['conditions'], PATIENTLY).toContainEqual(SUCCEEDED)
    const { storedVersions, conditions } = await definitionStatus(store)
    expect(storedVersions).toEqual(['v1', 'v2'])
    expect((conditions ?? []).find(({ type }) => type === 'StorageMigrating')?.message).toBe(
      'The migration has succeeded but the stored versions have not been updated due to a generation mismatch',
    )
  })

  it('fails when an object cannot be written, and says why', async () => {
    const store = createMemoryStore()
    const process = await startWith(store, ({ name }) => {
      if (name === 'w1') throw invalid({ group: 'example.com', kind: 'Widget' }, 'w1', [])
    })
    await storeWidgets(process, 3)
    await migrate(process, 'all')
    const message = 'migration encountered unhandled error: Widget.example.com "w1" is invalid'
    await expect
      .poll(async () => (await statusOf(store, 'all'))['conditions'], PATIENTLY)
      .toEqual([COMPLETED, failure(message)])
    const { storedVersions, conditions } = await definitionStatus(store)
    expect(storedVersions).toEqual(['v1', 'v2'])
    expect((conditions ?? []).find(({ type }) => type === 'StorageMigrating')?.reason).toBe('MigrationFailed')
  })

  it('tries again what may pass', async () => {
    const store = createMemoryStore()
    let errors = 2
    const process = await startWith(store, () => {
      if (errors-- > 0) throw internalError('not now')
    })
    await storeWidgets(process, 3)
    await migrate(process, 'all')
    await expect
      .poll(async () => (await statusOf(store, 'all'))['conditions'], PATIENTLY)
      .toEqual([COMPLETED, SUCCEEDED])
  })

  it('of what is not served fails', async () => {
    const store = createMemoryStore()
    const process = await startWith(store)
    await migrate(process, 'none', 'gadgets')
    const wanted = [failure('resource does not exist in discovery')]
    await expect.poll(async () => (await statusOf(store, 'none'))['conditions'], PATIENTLY).toEqual(wanted)
  })

  it('waits for another one of the same resource', async () => {
    const store = createMemoryStore()
    let atOnce = 0
    const process = await startWith(store, () => {
      void Promise.all(['b', 'a'].map(name => statusOf(store, name))).then(all => {
        const isRunning = (status: ValueObject): boolean => JSON.stringify(status).includes('"MigrationRunning"')
        atOnce = Math.max(atOnce, all.filter(isRunning).length)
      })
    })
    await storeWidgets(process, 50)
    await Promise.all([migrate(process, 'b'), migrate(process, 'a')])
    await expect.poll(async () => (await statusOf(store, 'a'))['conditions'], PATIENTLY).toContainEqual(SUCCEEDED)
    await expect.poll(async () => (await statusOf(store, 'b'))['conditions'], PATIENTLY).toContainEqual(SUCCEEDED)
    expect(atOnce).toBe(1)
  })
})
