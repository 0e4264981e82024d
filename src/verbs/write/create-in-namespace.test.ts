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

const kind = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'ConfigMap')!
const target: Target = { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource: '' }
const request = systemRequest({ user: { name: 'test', uid: '', groups: [], extra: {} }, userAgent: 'test' })
const NAMESPACE = '/namespaces/x'

let store: Store
let context: ApiContext
/** What happens between admission and the write. */
let meanwhile: () => Promise<unknown>
let refreshed: string[]
beforeEach(async () => {
  store = createMemoryStore()
  meanwhile = async () => {}
  refreshed = []
  await store.create(NAMESPACE, Buffer.from('{}'))
  context = createApiContext({
    store,
    admission: { validate: async () => void (await meanwhile()) },
    namespaces: {
      async guardOf(name) {
        const entry = await store.get(`/namespaces/${name}`)
        return entry && { key: entry.key, revision: entry.revision }
      },
      refresh: async name => void refreshed.push(name),
    },
  })
})
afterEach(() => context.close())

function create(origin: Origin, dryRun = false): Promise<unknown> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'x' } }
  const options = { dryRun, fieldManager: 'test', fieldValidation: '' } as const
  return createFrom(context, forResource(request, target, options), object, origin)
}

const isStored = async (): Promise<boolean> => (await store.get('/configmaps/x/a')) !== undefined

test('an object is created in a namespace that stays as it is', async () => {
  await create(DECODED)
  expect(await isStored()).toBe(true)
})

test.each([
  ['deleted', async () => store.delete(NAMESPACE, (await store.get(NAMESPACE))!.revision)],
  ['changed', async () => store.update(NAMESPACE, Buffer.from('{"a":1}'), (await store.get(NAMESPACE))!.revision)],
])('an object is not stored when its namespace was %s after admission has seen it', async (_, change) => {
  meanwhile = change
  const error = await create(DECODED).catch((thrown: unknown) => thrown)
  expect(isGuardFailure(error)).toBe(true)
  expect(await isStored()).toBe(false)
  // The request is repeated with what is known then.
  expect(refreshed).toEqual(['x'])
})

test('what the server itself makes does not depend on the namespace, nor does a dry run', async () => {
  meanwhile = async () => store.update(NAMESPACE, Buffer.from('{"a":1}'), (await store.get(NAMESPACE))!.revision)
  await create(DECODED, true)
  expect(await isStored()).toBe(false)
  await create(MADE)
  expect(await isStored()).toBe(true)
})
