// Updates on a store that other processes write to begin with the entry that is in memory. It may be a moment old.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { systemRequest } from '../../request/request.js'
import { createGatedStore, type GatedStore } from '../../storage/cache/gated-store.suite.js'
import { type ApiContext, createApiContext } from '../api-context.js'
import type { ObjectResult } from '../result.js'
import { createVerbs, type Verbs } from '../verbs.js'

const REQUEST = systemRequest({ user: { name: 'a', uid: '', groups: [], extra: {} }, userAgent: 'test' })
const NO_QUERY = new URLSearchParams()
const KIND = widgetKind({})
const TARGET = { kind: KIND, version: KIND.versions[0]!, namespace: 'x', name: 'a', subresource: '' } as const

let store: GatedStore
let contexts: ApiContext[]
let [here, there]: Verbs[] = []

beforeEach(async () => {
  store = createGatedStore()
  contexts = [createApiContext({ store }), createApiContext({ store })]
  ;[here, there] = contexts.map(createVerbs)
  await here!.create(REQUEST, { ...TARGET, name: '' }, NO_QUERY, bodyOf({ color: 'red' }))
  await Promise.all([read(here!), read(there!)])
  store.calls.revision = 0
  store.calls.get = 0
  // Reads of the latest state go to the store, and do not wait for the watch.
  store.promptProgress = false
})

afterEach(async () => {
  store.held = false
  for (const context of contexts) await context.close()
})

const bodyOf = (spec: object, metadata = {}) => ({
  bytes: Buffer.from(
    JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', ...metadata }, spec }),
  ),
  mediaType: 'application/json',
})
const patchOf = (body: object) => ({
  bytes: Buffer.from(JSON.stringify(body)),
  mediaType: 'application/merge-patch+json',
})

const objectOf = (result: unknown): ApiObject => (result as ObjectResult).object.value()
const read = async (verbs: Verbs): Promise<ApiObject> => objectOf(await verbs.get(REQUEST, TARGET, NO_QUERY))
const patch = async (verbs: Verbs, body: object): Promise<ApiObject> =>
  objectOf(await verbs.patch(REQUEST, TARGET, NO_QUERY, patchOf(body)))

test('patches are written without a read, one after the other', async () => {
  store.held = true
  await patch(here!, { spec: { color: 'blue' } })
  expect((await patch(here!, { spec: { size: 1 } }))['spec']).toEqual({ color: 'blue', size: 1 })
  expect(store.calls).toMatchObject({ revision: 0, get: 0 })
})

test('a patch of what another process has changed just now is made of the latest object', async () => {
  store.held = true
  await patch(there!, { spec: { color: 'blue' } })
  expect((await patch(here!, { spec: { size: 1 } }))['spec']).toEqual({ color: 'blue', size: 1 })
  // The write that was refused has found it.
  expect(store.calls).toMatchObject({ revision: 0, get: 0 })
})

test('a patch that changes nothing is answered with the latest object', async () => {
  store.held = true
  await patch(there!, { spec: { color: 'blue' } })
  expect((await patch(here!, { spec: { color: 'red' } }))['spec']).toEqual({ color: 'red' })
  await patch(there!, { spec: { size: 1 } })
  expect((await patch(here!, { spec: { color: 'red' } }))['spec']).toEqual({ color: 'red', size: 1 })
})

test('an update of the version that another process has just written is no conflict', async () => {
  store.held = true
  const { metadata } = await patch(there!, { spec: { color: 'blue' } })
  const body = bodyOf(
    { color: 'green' },
    { resourceVersion: (metadata as { resourceVersion: string }).resourceVersion },
  )
  expect(objectOf(await here!.update(REQUEST, TARGET, NO_QUERY, body))['spec']).toEqual({ color: 'green' })
})

test('an update of a version that another process has replaced is a conflict', async () => {
  const { metadata } = await read(here!)
  store.held = true
  await patch(there!, { spec: { color: 'blue' } })
  const body = bodyOf(
    { color: 'green' },
    { resourceVersion: (metadata as { resourceVersion: string }).resourceVersion },
  )
  await expect(here!.update(REQUEST, TARGET, NO_QUERY, body)).rejects.toMatchObject({ status: { code: 409 } })
})

test('a patch of what another process has just deleted finds nothing', async () => {
  store.held = true
  await there!.delete(REQUEST, TARGET, NO_QUERY, { bytes: Buffer.alloc(0), mediaType: '' })
  await expect(patch(here!, { spec: { size: 1 } })).rejects.toMatchObject({ status: { code: 404 } })
})
