import { afterEach, expect, test } from 'vitest'
import type { Value } from '../../meta/values/value.js'
import { decodeStored } from '../../objects/stored-object.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import type { Store } from '../../storage/store.js'
import {
  body,
  DEFINITIONS,
  definitionAt,
  NO_BODY,
  NO_QUERY,
  type Process,
  REQUEST,
  startProcess,
  stopProcesses,
} from './crd-process.suite.js'
import { createNamesLock } from './names-lock.js'

afterEach(stopProcesses)

/** A replica that hears nothing of the writes of others, as one that was cut off or paused. */
const deaf = (store: Store): Store => ({
  ...store,
  watch: () => ({ resume() {}, requestProgress() {}, close() {} }),
})

const definition = (plural: string, kind: string, sizeType: string): Value => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    names: { plural, kind },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: sizeType } } } },
      },
    ],
  },
})

const define = ({ verbs }: Process, plural: string, kind = 'Widget') =>
  verbs.create(REQUEST, definitionAt(''), NO_QUERY, body(definition(plural, kind, 'integer')))

/** Takes the kind as the replica knows it, as a request that has just been routed. */
function createWidget({ registry, verbs }: Process, name: string, size: Value) {
  const served = registry.find('example.com', 'v1', 'widgets')!
  const object: Value = { apiVersion: 'example.com/v1', kind: served.kind.names.kind, metadata: { name }, size }
  return verbs.create(REQUEST, { ...served, namespace: '', name: '', subresource: '' }, NO_QUERY, body(object))
}

test('an object is checked by the definition that is current when it is stored', async () => {
  const store = createMemoryStore()
  const a = await startProcess(store)
  await define(a, 'widgets')
  const b = await startProcess(deaf(store))
  await createWidget(b, 'before', 1)
  const patch = JSON.stringify([
    { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/size/type', value: 'string' },
  ])
  const json = { bytes: Buffer.from(patch), mediaType: 'application/json-patch+json' }
  await a.verbs.patch(REQUEST, definitionAt('widgets.example.com'), NO_QUERY, json)
  await expect(createWidget(b, 'wrong', 2)).rejects.toMatchObject({ status: { reason: 'Invalid' } })
  await createWidget(b, 'right', 'large')
  const { entries } = await store.range('/example.com/widgets/')
  expect(entries.map(({ key }) => key)).toEqual(['/example.com/widgets/before', '/example.com/widgets/right'])
})

test('an object of a definition that is gone is not stored', async () => {
  const store = createMemoryStore()
  const a = await startProcess(store)
  await define(a, 'widgets')
  const b = await startProcess(deaf(store))
  await a.verbs.delete(REQUEST, definitionAt('widgets.example.com'), NO_QUERY, NO_BODY)
  await expect.poll(async () => (await store.range(DEFINITIONS.keyPrefix)).entries).toEqual([])
  await expect(createWidget(b, 'late', 1)).rejects.toMatchObject({ status: { code: 404 } })
  expect((await store.range('/example.com/widgets/')).entries).toEqual([])
})

test('a change of the status alone does not disturb writes', async () => {
  const store = createMemoryStore()
  const a = await startProcess(store)
  await define(a, 'widgets')
  const kind = a.registry.find('example.com', 'v1', 'widgets')!.kind
  const patch = { bytes: Buffer.from('{"metadata":{"labels":{"a":"b"}}}'), mediaType: 'application/merge-patch+json' }
  await a.verbs.patch(REQUEST, definitionAt('widgets.example.com'), NO_QUERY, patch)
  expect(a.registry.find('example.com', 'v1', 'widgets')!.kind).toBe(kind)
  await createWidget(a, 'a', 1)
})

test.each([
  ['one after the other', 0],
  ['at the same time', 1],
] as const)('of two definitions with one kind, written at two replicas %s, one is accepted', async (_, together) => {
  const store = createMemoryStore()
  const [a, b] = await Promise.all(
    [store, deaf(store)].map(each => startProcess(each, undefined, createNamesLock(each))),
  )
  const first = define(a!, 'widgets')
  if (!together) await first
  await Promise.all([first, define(b!, 'gadgets')])
  const { entries } = await store.range(DEFINITIONS.keyPrefix)
  const accepted = entries.filter(entry => {
    const { conditions } = decodeStored(entry)['status'] as { conditions: { type: string; status: string }[] }
    return conditions.some(({ type, status }) => type === 'NamesAccepted' && status === 'True')
  })
  expect(accepted).toHaveLength(1)
})
