import { afterEach, expect, test } from 'vitest'
import { metaOf } from '../../meta/object/object-meta.js'
import type { Value } from '../../meta/values/value.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { StorageError } from '../../storage/storage-error.js'
import type { RangeOptions, Store } from '../../storage/store.js'
import { createWorld } from '../../verbs/api-world.suite.js'
import { objectsAsStored } from '../../verbs/system-writes.js'
import {
  body,
  definitionAt,
  NO_BODY,
  NO_QUERY,
  REQUEST,
  startProcess,
  stopProcesses,
} from '../crd/crd-process.suite.js'
import { deletePrefix, MAX_CONCURRENT, PAGE } from './delete-contents.js'

afterEach(stopProcesses)

const FOLDER = '/example.com/widgets/'
const OBJECTS = 3000

const WIDGETS: Value = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** What is asked of a store for the objects of that folder. */
function counted(store: Store) {
  const seen = { pages: 0, largest: 0, deleted: 0, atOnce: 0, mostAtOnce: 0 }
  const counting: Store = {
    ...store,
    async range(prefix: string, options?: RangeOptions) {
      const page = await store.range(prefix, options)
      if (prefix === FOLDER) {
        seen.pages++
        seen.largest = Math.max(seen.largest, page.entries.length)
      }
      return page
    },
    async delete(key: string, expected: number) {
      seen.mostAtOnce = Math.max(seen.mostAtOnce, ++seen.atOnce)
      const result = await store.delete(key, expected)
      seen.atOnce--
      if (key.startsWith(FOLDER)) seen.deleted++
      return result
    },
  }
  return { store: counting, seen }
}

test('a definition takes any number of objects along in small steps', { timeout: 60_000 }, async () => {
  const { store, seen } = counted(createMemoryStore())
  const { verbs, registry } = await startProcess(store)
  await verbs.create(REQUEST, definitionAt(''), NO_QUERY, body(WIDGETS))
  for (let i = 0; i < OBJECTS; i++) {
    const metadata = { name: `w${i}`, namespace: `n${i % 7}`, uid: `u${i}` }
    const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata }
    await store.create(`${FOLDER}${metadata.namespace}/${metadata.name}`, Buffer.from(JSON.stringify(object)))
  }
  await verbs.delete(REQUEST, definitionAt('widgets.example.com'), NO_QUERY, NO_BODY)
  let turns = 0
  while (registry.find('example.com', 'v1', 'widgets')) {
    await new Promise(resolve => setImmediate(resolve))
    turns++
  }
  expect(seen.deleted).toBe(OBJECTS)
  expect(seen.largest).toBe(PAGE)
  expect(seen.pages).toBeLessThanOrEqual(OBJECTS / PAGE + 4)
  expect(seen.mostAtOnce).toBeLessThanOrEqual(2 * PAGE)
  expect(turns).toBeGreaterThan(OBJECTS / MAX_CONCURRENT / 2)
})

test('what is given time to end is waited for until it is over', async () => {
  let now = Date.UTC(2024, 0, 1)
  const { context, pods, createPod } = createWorld(() => now)
  await createPod('x', 'bound', { nodeName: 'n', terminationGracePeriodSeconds: 10 })
  await createPod('x', 'unbound')
  const empty = async (): Promise<string[]> => {
    const held: string[] = []
    await deletePrefix(context, objectsAsStored(context, 'test'), pods, '/pods/x/', object => {
      held.push(metaOf(object).name ?? '')
    })
    return held
  }
  expect(await empty()).toEqual(['bound'])
  now += 9_000
  expect(await empty()).toEqual(['bound'])
  now += 1_000
  expect(await empty()).toEqual([])
  await context.close()
})

test('pages are smaller where objects are large', async () => {
  const { store, seen } = counted(createMemoryStore())
  const { verbs, registry } = await startProcess(store)
  await verbs.create(REQUEST, definitionAt(''), NO_QUERY, body(WIDGETS))
  const annotations = { text: 'v'.repeat(1024 * 1024) }
  for (let i = 0; i < 30; i++) {
    const object = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: `w${i}`, uid: `u${i}`, annotations },
    }
    await store.create(`${FOLDER}n/w${i}`, Buffer.from(JSON.stringify(object)))
  }
  await verbs.delete(REQUEST, definitionAt('widgets.example.com'), NO_QUERY, NO_BODY)
  while (registry.find('example.com', 'v1', 'widgets')) await new Promise(resolve => setImmediate(resolve))
  expect(seen.deleted).toBe(30)
  expect(seen.pages).toBeGreaterThanOrEqual(1 + 10 / 8)
})

test('what cannot be deleted is tried again', async () => {
  const memory = createMemoryStore()
  let refusals = 3
  const store: Store = {
    ...memory,
    async delete(key, expected) {
      if (key.endsWith('/w7') && refusals-- > 0) throw new StorageError('unavailable', 'not now')
      return memory.delete(key, expected)
    },
  }
  const { verbs, registry } = await startProcess(store)
  await verbs.create(REQUEST, definitionAt(''), NO_QUERY, body(WIDGETS))
  for (let i = 0; i < 100; i++) {
    const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: `w${i}`, uid: `u${i}` } }
    await memory.create(`${FOLDER}n/w${i}`, Buffer.from(JSON.stringify(object)))
  }
  await verbs.delete(REQUEST, definitionAt('widgets.example.com'), NO_QUERY, NO_BODY)
  while (registry.find('example.com', 'v1', 'widgets')) await new Promise(resolve => setTimeout(resolve, 1))
  expect(refusals).toBe(-1)
  expect((await memory.range(FOLDER)).entries).toEqual([])
})
