import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Attributes } from '../../admission/attributes.js'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import { forbidden } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { forResource, systemRequest } from '../../request/request.js'
import type { Target } from '../../request/target.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { builtinTypes } from '../../types/type-table.js'
import { type ApiContext, createApiContext } from '../api-context.js'
import { MADE } from '../pipeline/prepared.js'
import { createFrom } from './create.js'
import { deleteObject, removeEntry } from './delete.js'

const kind = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'ConfigMap')!
const target: Target = { kind, version: kind.versions[0]!, namespace: 'x', name: 'a', subresource: '' }
const system = systemRequest({ user: { name: 'test', uid: '', groups: [], extra: {} }, userAgent: 'test' })
const WRITE = { dryRun: false, fieldManager: 'test', fieldValidation: '' } as const
const DELETE = { dryRun: false, ignoreStoreReadError: false, propagationPolicy: 'Background' } as const

let context: ApiContext
/** What admission does with a delete. */
let admit: (attributes: Attributes) => void
beforeEach(() => {
  admit = () => {}
  const admission = {
    validate(attributes: Attributes) {
      if (attributes.operation === 'DELETE') admit(attributes)
    },
  }
  context = createApiContext({ store: createMemoryStore(), admission })
})
afterEach(() => context.close())

const stored = () => context.objectStore(kind).get('x', 'a')

async function create(metadata = {}): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'x', ...metadata } }
  const described = { ...object, data: { text: '"finalizer": none' } }
  await createFrom(context, forResource(system, { ...target, name: '' }, WRITE), described, MADE)
}

const remove = async (entry = stored()): Promise<ApiObject | undefined> =>
  removeEntry(context, forResource(system, target, DELETE), (await entry)!)

test('an object without finalizers is gone, and admission reads it as it was', async () => {
  const seen: (ApiObject | undefined)[] = []
  admit = ({ oldObject }) => void seen.push(oldObject, oldObject)
  await create({ labels: { a: 'b' } })
  expect(await remove()).toBeUndefined()
  expect(await stored()).toBeUndefined()
  expect(seen[0]).toMatchObject({ metadata: { name: 'a', labels: { a: 'b' } }, data: {} })
  expect(seen[1]).toBe(seen[0])
})

test('an object that admission keeps stays', async () => {
  admit = () => {
    throw forbidden({ group: '', resource: 'configmaps' }, 'a', 'not now')
  }
  await create()
  await expect(remove()).rejects.toThrow('not now')
  expect(await stored()).toBeDefined()
})

test('an object with finalizers is marked and waits', async () => {
  await create({ finalizers: ['example.com/hold'] })
  const left = await remove()
  expect(metaOf(left!)).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ['example.com/hold'] })
  expect(await stored()).toBeDefined()
})

test('an object that has got a finalizer since it was read waits', async () => {
  await create()
  const before = stored()
  const { revision, value } = (await before)!
  const held = value.toString().replace('"name":"a"', '"finalizers":["example.com/hold"],"name":"a"')
  expect(held).toContain('hold')
  await context.objectStore(kind).cache.update('/configmaps/x/a', Buffer.from(held), revision)
  expect(metaOf((await remove(before))!)).toMatchObject({ finalizers: ['example.com/hold'] })
})

test('an object that another client creates after a delete has looked for it is not found', async () => {
  await create()
  const { value } = (await stored())!
  const { getNow: _, ...store } = createMemoryStore()
  const later = createApiContext({
    store: {
      ...store,
      async get(key, at) {
        const entry = await store.get(key, at)
        if (!entry) await store.create(key, value)
        return entry
      },
    },
  })
  const deleted = deleteObject(later, forResource(system, target, DELETE))
  await expect(deleted).rejects.toMatchObject({ status: { code: 404, reason: 'NotFound' } })
  await later.close()
})
