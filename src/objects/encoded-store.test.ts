import { expect, test } from 'vitest'
import { createInternedParts, type InternedParts } from '../codec/json.js'
import { STORED_DEFINITION } from '../crd/stored-form.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import type { StoreEvent } from '../storage/store.js'
import { encodeObject, openEnvelope, sealEnvelope } from '../types/protobuf.js'
import { builtinTypes } from '../types/type-table.js'
import { createEncodedStore } from './encoded-store.js'
import { createStoredCodec, decodeStored } from './stored-object.js'

const KEY = '/apiextensions.k8s.io/customresourcedefinitions/ws.example.com'
const definition = (spec: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ws.example.com' },
  spec,
})
const SCHEMA = { openAPIV3Schema: { type: 'object' } }
const V1 = definition({
  group: 'example.com',
  names: { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList' },
  scope: 'Cluster',
  versions: [{ name: 'v1', served: true, storage: true, schema: SCHEMA }],
  conversion: { strategy: 'None' },
})

function setUp() {
  const etcd = createMemoryStore()
  const encoding = { types: builtinTypes(), protobuf: true, cbor: false, storedForms: [STORED_DEFINITION] }
  return { etcd, store: createEncodedStore(etcd, encoding) }
}

const bytes = (value: object): Buffer => Buffer.from(JSON.stringify(value))
const parsed = (entry: { readonly value: Uint8Array } | undefined) =>
  JSON.parse(Buffer.from(entry!.value).toString()) as Record<string, unknown>

test('definitions are v1beta1 in etcd and v1 here', async () => {
  const { etcd, store } = setUp()
  await store.create(KEY, bytes(V1))
  expect(parsed(await etcd.get(KEY))).toMatchObject({
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    spec: { version: 'v1', validation: SCHEMA, preserveUnknownFields: false, versions: [{ name: 'v1' }] },
  })
  expect(parsed(await store.get(KEY))).toEqual(V1)
})

test('a definition in etcd gets the defaults of its version', async () => {
  const { etcd, store } = setUp()
  const { group, names, scope } = V1.spec as Record<string, unknown>
  const old = { ...definition({ group, names, scope, version: 'v1' }), apiVersion: 'apiextensions.k8s.io/v1beta1' }
  await etcd.create(KEY, bytes(old))
  expect(parsed(await store.get(KEY))).toMatchObject({
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: { preserveUnknownFields: true, versions: [{ name: 'v1', served: true, storage: true }] },
  })
})

test.each(['protobuf', 'JSON'])(
  'an object in a version that is not served any more is read in the current one, from %s',
  async form => {
    const etcd = createMemoryStore()
    const convert = (object: ApiObject): ApiObject => ({ ...object, spec: { minAvailable: 2 } })
    const kinds = new Map([['PodDisruptionBudget', { apiVersion: 'policy/v1', convert }]])
    const encoding = {
      types: builtinTypes(),
      protobuf: true,
      cbor: false,
      oldVersions: new Map([['policy/v1beta1', kinds]]),
    }
    const store = createEncodedStore(etcd, encoding)
    const key = '/poddisruptionbudgets/default/a'
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'a', namespace: 'default' },
      spec: { minAvailable: 1 },
    }
    const old = { ...budget, apiVersion: 'policy/v1beta1' }
    const { raw } = openEnvelope(encodeObject(builtinTypes(), budget)!)
    await etcd.create(key, form === 'JSON' ? bytes(old) : sealEnvelope(old.apiVersion, old.kind, raw))
    expect(parsed(await store.get(key))).toMatchObject({ ...budget, spec: { minAvailable: 2 } })
  },
)

test('a write whose guard does not hold is refused', async () => {
  const { store } = setUp()
  const guard = { key: '/other/entry', revision: 7 }
  await expect(store.create(KEY, bytes(V1), guard)).rejects.toMatchObject({ code: 'guard-changed' })
})

test('the events of writes have the bytes that were written', async () => {
  const { etcd, store } = setUp()
  const key = '/configmaps/default/a'
  // Decoded from protobuf, the members would come in another order.
  const object = (value: string) =>
    bytes({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a' }, data: { key: value } })
  const events: StoreEvent[] = []
  store.watch(key, 0, { event: event => void events.push(event), end() {} })
  await store.create(key, object('1'))
  const created = (await etcd.get(key))!
  await store.update(key, object('2'), created.revision)
  await expect.poll(() => events.length).toBe(2)
  expect(created.value.subarray(0, 4)).toEqual(Buffer.from('k8s\0'))
  expect(events[1]!.value).toEqual(object('2'))
  expect(events[1]!.previous!.value).toEqual(object('1'))
})

test('what a refused write has found is not decoded again when it is read', async () => {
  const { etcd, store } = setUp()
  const key = '/configmaps/default/a'
  const object = bytes({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } })
  // Another replica has written it.
  await createEncodedStore(etcd, { types: builtinTypes(), protobuf: true, cbor: false }).create(key, object)
  const refused = await store.create(key, object)
  const found = refused.done ? undefined : refused.current
  expect((await store.get(key))!.value).toBe(found!.value)
})

test('field sets are printed and read once', async () => {
  const etcd = createMemoryStore()
  const inner = createInternedParts()
  let printed = 0
  const parts: InternedParts = {
    ...inner,
    print(value) {
      printed++
      return inner.print(value)
    },
  }
  const store = createEncodedStore(etcd, { types: builtinTypes(), protobuf: true, cbor: false, parts })
  const fieldsV1 = { 'f:data': { '.': {}, 'f:a': {} } }
  const managedFields = [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }]
  const metadata = { name: 'a', namespace: 'default', managedFields }
  const codec = createStoredCodec(parts)
  const json = codec.encode({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } })
  expect(printed).toBe(1)
  await store.create('/configmaps/default/a', json)
  const entry = (await store.get('/configmaps/default/a'))!
  expect((await etcd.get('/configmaps/default/a'))!.value.subarray(0, 4)).toEqual(Buffer.from('k8s\0'))
  const [manager] = codec.decode(entry).metadata['managedFields'] as [{ fieldsV1: object }]
  expect(manager.fieldsV1).toBe(fieldsV1)
})

test('of damaged protobuf, the error says what is wrong with the protobuf', async () => {
  const { etcd, store } = setUp()
  const key = '/configmaps/default/a'
  await store.create(key, bytes({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a' } }))
  const { value, revision } = (await etcd.get(key))!
  const damaged = Buffer.from(value)
  damaged[damaged.length - 1]! ^= 0xff
  await etcd.update(key, damaged, revision)
  const entry = (await store.get(key))!
  expect(() => decodeStored(entry)).toThrow('Internal error occurred: unexpected EOF')
})

test('objects of others are completed when they are read, those of this server are not', async () => {
  const etcd = createMemoryStore()
  const complete = (object: ApiObject): ApiObject => ({ ...object, data: { completed: 'yes' } })
  const store = createEncodedStore(etcd, { types: builtinTypes(), protobuf: false, cbor: false, complete })
  const own = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  const { apiVersion, kind, metadata } = own
  await etcd.create('/own', bytes(own))
  await etcd.create('/json', bytes({ kind, apiVersion, metadata }))
  await etcd.create('/protobuf', encodeObject(builtinTypes(), own)!)
  expect(parsed(await store.get('/own'))).not.toHaveProperty('data')
  for (const key of ['/json', '/protobuf']) expect(parsed(await store.get(key))).toHaveProperty('data.completed', 'yes')
})

test('what protobuf has no room for is completed when it is read', async () => {
  const etcd = createMemoryStore()
  const claim = (typeMeta: object) => ({ ...typeMeta, metadata: { name: 'data' }, spec: { volumeMode: 'Block' } })
  const set = (typeMeta: object, name: string) => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: { serviceName: 's', volumeClaimTemplates: [claim(typeMeta)] },
  })
  const OF_CLAIMS = { kind: 'PersistentVolumeClaim', apiVersion: 'v1' }
  const complete = (): ApiObject => set(OF_CLAIMS, 'a')
  const open = () => createEncodedStore(etcd, { types: builtinTypes(), protobuf: true, cbor: false, complete })
  const store = open()
  await store.create('/a', bytes(set(OF_CLAIMS, 'a')))
  expect((await etcd.get('/a'))!.value.subarray(0, 4)).toEqual(Buffer.from('k8s\0'))
  expect(parsed(await open().get('/a'))).toEqual(set(OF_CLAIMS, 'a'))
  // What would be read back as another object stays JSON.
  const other = set({ kind: 'Other', apiVersion: 'v2' }, 'b')
  await store.create('/b', bytes(other))
  expect(parsed(await etcd.get('/b'))).toEqual(other)
})
