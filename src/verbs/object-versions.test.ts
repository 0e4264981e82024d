import { afterEach, expect, test } from 'vitest'
import { widgetKind } from '../kinds/fake-kinds.suite.js'
import type { Kind } from '../kinds/kind.js'
import { type ApiObject } from '../meta/object/api-object.js'
import type { ObjectView } from '../objects/object-view.js'
import { forResource, systemRequest } from '../request/request.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import { type ApiContext, createApiContext } from './api-context.js'
import { MADE } from './pipeline/prepared.js'
import type { ObjectResult } from './result.js'
import { createVerbs } from './verbs.js'
import { createFrom } from './write/create.js'

const REQUEST = systemRequest({ user: { name: 'a', uid: '', groups: [], extra: {} }, userAgent: 'test' })
const NO_QUERY = new URLSearchParams()

let context: ApiContext | undefined
afterEach(() => context?.close())

/** A kind whose objects may be read otherwise than they are stored, and how often one was. */
function readingKind(change: (object: ApiObject) => ApiObject): { kind: Kind; reads(): number } {
  let count = 0
  const read = (object: ApiObject): ApiObject => {
    count++
    return change(object)
  }
  const upgradeStored = (object: ApiObject) => ({ object: read(object), changed: true })
  return { kind: widgetKind({ upgradeStored }), reads: () => count }
}

async function create(kind: Kind): Promise<ObjectResult> {
  context = createApiContext({ store: createMemoryStore() })
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource: '' } as const
  const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { color: 'red' } }
  const sent = { bytes: Buffer.from(JSON.stringify(body)), mediaType: 'application/json' }
  return (await createVerbs(context).create(REQUEST, target, NO_QUERY, sent)) as ObjectResult
}

/** Stored as by earlier rules of the kind, or put together by the server itself. */
async function createUnread(kind: Kind): Promise<ObjectView> {
  context = createApiContext({ store: createMemoryStore() })
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource: '' } as const
  const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { color: 'red' } }
  const options = { dryRun: false, fieldManager: '', fieldValidation: '' } as const
  return createFrom(context, forResource(REQUEST, target, options), object, MADE)
}

async function get(kind: Kind): Promise<ObjectResult> {
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: 'a', subresource: '' } as const
  return (await createVerbs(context!).get(REQUEST, target, NO_QUERY)) as ObjectResult
}

test('an object that was decoded by the present rules is served as it is stored, and not upgraded', async () => {
  const { kind, reads } = readingKind(object => object)
  const created = await create(kind)
  const got = await get(kind)
  expect(reads()).toBe(0)
  expect(got.object.entry?.revision).toBe(1)
  expect(created.object.value()).toEqual(got.object.value())
})

test('an object that upgrading changes is returned upgraded, to its writer too', async () => {
  const { kind } = readingKind(object => ({ ...object, spec: { color: 'blue' } }))
  const created = await createUnread(kind)
  expect(created.value()['spec']).toEqual({ color: 'blue' })
  expect((await get(kind)).object.value()['spec']).toEqual({ color: 'blue' })
})

test('an object that upgrading changes is upgraded once for all readers', async () => {
  const { kind, reads } = readingKind(object => ({ ...object, spec: { color: 'blue' } }))
  await createUnread(kind)
  const first = await get(kind)
  const before = reads()
  const second = await get(kind)
  expect(reads()).toBe(before)
  expect(second.object.entry?.value).toEqual(first.object.entry?.value)
  expect(second.object.value()).toEqual(first.object.value())
})

test('the next write stores the upgraded object', async () => {
  const { kind } = readingKind(object => ({ ...object, spec: { color: 'tan' } }))
  await createUnread(kind)
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: 'a', subresource: '' } as const
  // As long as it was, and other than it was.
  await get(kind)
  const sent = { bytes: Buffer.from(JSON.stringify((await get(kind)).object.value())), mediaType: 'application/json' }
  await createVerbs(context!).update(REQUEST, target, NO_QUERY, sent)
  const entry = await context!.objectStore(kind).get('x', 'a')
  expect(entry?.revision).toBe(2)
  expect(entry?.value.toString()).toContain('"tan"')
})
