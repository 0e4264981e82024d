import { afterEach, expect, test } from 'vitest'
import { widgetKind } from '../kinds/fake-kinds.suite.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import { recordWatch } from '../storage/watch-recorder.suite.js'
import { createObjectStores } from './object-stores.js'

const store = createMemoryStore()
const context = createObjectStores(store)
afterEach(() => context.close())

test('a request that began before its kind was replaced still works, and does not end watches of the new kind', async () => {
  const old = widgetKind()
  const replaced = widgetKind()
  const before = context.objectStore(old)
  context.retire(old)
  const watched = recordWatch(context.objectStore(replaced).cache, replaced.keyPrefix, 0)
  expect(context.objectStore(old)).toBe(before)
  const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'late', namespace: 'x' } }
  expect(await context.objectStore(old).create(object)).toMatchObject({ revision: 1 })
  expect((await context.objectStore(replaced).get('x', 'late'))?.revision).toBe(1)
  expect(watched.ended).toBeUndefined()
})

test('a retired kind cannot be watched, even if its store was never used', () => {
  const old = widgetKind()
  context.retire(old)
  expect(() => recordWatch(context.objectStore(old).cache, old.keyPrefix, 0)).toThrow(
    expect.objectContaining({ code: 'closed' }),
  )
})
