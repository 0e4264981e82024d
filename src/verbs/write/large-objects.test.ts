import { beforeEach, expect, test } from 'vitest'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { forResource, systemRequest } from '../../request/request.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { StorageError } from '../../storage/storage-error.js'
import type { Store } from '../../storage/store.js'
import { builtinTypes } from '../../types/type-table.js'
import { type ApiContext, createApiContext } from '../api-context.js'
import { createObject } from './create.js'
import { patchObject } from './patch.js'
import { updateObject } from './update.js'

const CONFIG_MAPS = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'ConfigMap')!
const LIMIT = 6_000
/** The keys are in the object and in its managedFields: below the limit without these, over it with them. */
const KEYS = Array.from({ length: 50 }, (_, i) => `${'k'.repeat(75)}${i}`)
const DATA = Object.fromEntries(KEYS.map(key => [key, '']))

let context: ApiContext
beforeEach(() => {
  context = createApiContext({ store: limited(createMemoryStore()) })
})

/** etcd has a low limit on the size of requests. */
function limited(store: Store): Store {
  const check = (value: Uint8Array): void => {
    if (value.byteLength > LIMIT) {
      throw new StorageError('value-too-large', 'etcdserver: request is too large', undefined, 'answered by etcd')
    }
  }
  return {
    ...store,
    async create(key, value, ...rest) {
      check(value)
      return store.create(key, value, ...rest)
    },
    async update(key, value, ...rest) {
      check(value)
      return store.update(key, value, ...rest)
    },
  }
}

const requestFor = (name: string) =>
  forResource(
    systemRequest({ user: { name: 'test', uid: '', groups: [], extra: {} }, userAgent: 'test' }),
    { kind: CONFIG_MAPS, version: CONFIG_MAPS.versions[0]!, namespace: 'x', name, subresource: '' },
    { dryRun: false, fieldManager: '', fieldValidation: '', force: false } as const,
  )
const bodyOf = (data: Record<string, string>, name = 'a') => ({
  bytes: Buffer.from(JSON.stringify({ metadata: { name }, data })),
  mediaType: 'application/json',
})

async function managersAfter(write: ReturnType<typeof createObject>): Promise<number | undefined> {
  return metaOf((await write).object.value()).managedFields?.length
}

test('a new object that is too large with its managedFields is stored without them', async () => {
  expect(await managersAfter(createObject(context, requestFor(''), bodyOf(DATA)))).toBeUndefined()
})

test('an update and a patch drop managedFields that make the object too large', async () => {
  const write = {
    update: () => updateObject(context, requestFor('a'), bodyOf(DATA)),
    patch: () => patchObject(context, requestFor('b'), 'merge', Buffer.from(JSON.stringify({ data: DATA }))),
  }
  expect(await managersAfter(createObject(context, requestFor(''), bodyOf({ x: '1' })))).toBe(1)
  expect(await managersAfter(write.update())).toBeUndefined()
  expect(await managersAfter(createObject(context, requestFor(''), bodyOf({ x: '1' }, 'b')))).toBe(1)
  expect(await managersAfter(write.patch())).toBeUndefined()
})

test('an object that is too large without them is refused', async () => {
  const data = { ...DATA, more: 'x'.repeat(LIMIT) }
  await expect(createObject(context, requestFor(''), bodyOf(data))).rejects.toThrow(
    /^etcdserver: request is too large$/,
  )
})

test('an object with many fields can be patched: its managedFields are not counted', { timeout: 120_000 }, async () => {
  const large = createApiContext({ store: createMemoryStore() })
  const many = Object.fromEntries(Array.from({ length: 52_000 }, (_, i) => [`a${i}`, '']))
  await createObject(large, requestFor(''), bodyOf(many))
  const patches = {
    merge: '{"data":{"a7":"x"},"metadata":{"labels":{"l":"x"}}}',
    json: '[{"op":"add","path":"/data/a7","value":"y"}]',
    strategic: '{"data":{"a7":"z"}}',
  } as const
  for (const kind of ['merge', 'json', 'strategic'] as const) {
    const { object } = await patchObject(large, requestFor('a'), kind, Buffer.from(patches[kind]))
    const a7 = { merge: 'x', json: 'y', strategic: 'z' }[kind]
    expect(object.value()).toMatchObject({ data: { a7, a8: '' } })
  }
})
