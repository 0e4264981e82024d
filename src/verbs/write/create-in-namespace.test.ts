import { afterEach, beforeEach, expect, test } from 'vitest'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import { isGuardFailure } from '../../objects/storage-status.js'
import { forResource, systemRequest } from '../../request/request.js'
import type { Target } from '../../request/target.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import type { Store } from '../../storage/store.js'
import { builtinTypes } from '../../types/type-table.js'
import { type ApiContext, createApiContext } from '../api-context.js'
import { DECODED, MADE, type Origin } from '../pipeline/prepared.js'
import { createFrom } from './create.js'

const kinds = builtinKinds(builtinTypes())
const kind = kinds.find(({ names }) => names.kind === 'ConfigMap')!
const namespaceKind = kinds.find(({ names }) => names.kind === 'Namespace')!
const target: Target = { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource: '' }
const request = systemRequest({ user: { name: 'test', uid: '', groups: [], extra: {} }, userAgent: 'test' })
const NAMESPACE = '/namespaces/x'

let store: Store
let context: ApiContext
/** What happens between admission and the write. */
let meanwhile: () => Promise<unknown>
/** What happens before each of the next writes to the store. */
let beforeWrites: (() => Promise<unknown>)[]
let admitted: number
let read: string[]
beforeEach(async () => {
  const memory = createMemoryStore()
  store = {
    ...memory,
    async create(key, value, guard) {
      if (key.startsWith('/configmaps')) await beforeWrites.shift()?.()
      return memory.create(key, value, guard)
    },
  }
  meanwhile = async () => {}
  beforeWrites = []
  admitted = 0
  read = []
  await store.create(NAMESPACE, namespaceOf({}))
  context = createApiContext({
    store,
    admission: {
      async validate() {
        admitted++
        await meanwhile()
      },
    },
    namespaces: {
      known: name => context.objectStore(namespaceKind).get('', name),
      async latest(name) {
        read.push(name)
        return context.objectStore(namespaceKind).get('', name)
      },
    },
  })
})
afterEach(() => context.close())

const namespaceOf = (metadata: object): Buffer =>
  Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x', uid: 'u', ...metadata } }))

async function changeNamespace(metadata: object): Promise<void> {
  await store.update(NAMESPACE, namespaceOf(metadata), (await store.get(NAMESPACE))!.revision)
}

async function removeNamespace(): Promise<void> {
  await store.delete(NAMESPACE, (await store.get(NAMESPACE))!.revision)
}

function create(origin: Origin, dryRun = false, to = target): Promise<unknown> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'x' } }
  const options = { dryRun, fieldManager: 'test', fieldValidation: '' } as const
  return createFrom(context, forResource(request, to, options), object, origin)
}

const isStored = async (): Promise<boolean> => (await store.get('/configmaps/x/a')) !== undefined

test('an object is created in a namespace that stays as it is', async () => {
  await create(DECODED)
  expect(await isStored()).toBe(true)
})

test.each<[string, () => Promise<unknown>]>([
  ['removed', removeNamespace],
  ['deleted', () => changeNamespace({ deletionTimestamp: '2024-01-01T00:00:00Z' })],
  ['replaced', async () => [await removeNamespace(), await store.create(NAMESPACE, namespaceOf({ uid: 'v' }))]],
])('an object is not stored when its namespace was %s after admission has seen it', async (_, change) => {
  meanwhile = change
  const error = await create(DECODED).catch((thrown: unknown) => thrown)
  expect(isGuardFailure(error)).toBe(true)
  expect(await isStored()).toBe(false)
  // The request is repeated with what is known then.
  expect(read).toEqual(['x'])
})

test('other changes of the namespace delay a create, however many they are', async () => {
  beforeWrites = Array.from({ length: 20 }, (_, i) => () => changeNamespace({ labels: { i: String(i) } }))
  await create(DECODED)
  expect(await isStored()).toBe(true)
  expect(read.length).toBe(20)
  // As in kube-apiserver, where admission sees the namespace once.
  expect(admitted).toBe(1)
})

test('an object of a definition that has changed is not stored', async () => {
  const before = (await store.get('/configmaps'))?.revision ?? 0
  const guarded = { ...kind, guard: { key: '/definition', revision: before } }
  await store.create('/definition', Buffer.from('{}'))
  const error = await create(DECODED, false, { ...target, kind: guarded }).catch((thrown: unknown) => thrown)
  expect(isGuardFailure(error)).toBe(true)
  expect(await isStored()).toBe(false)
})

test('what the server itself makes does not depend on the namespace, nor does a dry run', async () => {
  meanwhile = () => changeNamespace({ labels: { a: 'b' } })
  await create(DECODED, true)
  expect(await isStored()).toBe(false)
  await create(MADE)
  expect(await isStored()).toBe(true)
  expect(read).toEqual([])
})
