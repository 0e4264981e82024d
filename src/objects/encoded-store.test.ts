import { expect, test } from 'vitest'
import { STORED_DEFINITION } from '../crd/stored-form.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import { builtinTypes } from '../types/type-table.js'
import { createEncodedStore } from './encoded-store.js'

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

test('a write whose guard does not hold is refused', async () => {
  const { store } = setUp()
  const guard = { key: '/other/entry', revision: 7 }
  await expect(store.create(KEY, bytes(V1), guard)).rejects.toMatchObject({ code: 'guard-changed' })
})
