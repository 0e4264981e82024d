import { afterEach, describe, expect, it } from 'vitest'
import type { Value } from '../../meta/values/value.js'
import { type Target } from '../../request/target.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { StorageError } from '../../storage/storage-error.js'
import type { Store } from '../../storage/store.js'
import {
  body,
  DEFINITIONS,
  definitionAt,
  NO_BODY,
  NO_QUERY,
  type Process,
  REQUEST,
  startProcess,
  stopProcesses,
} from './crd-process.suite.js'

afterEach(stopProcesses)

const MERGE_PATCH = 'application/merge-patch+json'

const definition = (plural: string, kind: string): Value => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    names: { plural, kind },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

const define = ({ verbs }: Process, plural: string, kind: string) =>
  verbs.create(REQUEST, definitionAt(''), NO_QUERY, body(definition(plural, kind)))

const undefine = ({ verbs }: Process, plural: string) =>
  verbs.delete(REQUEST, definitionAt(`${plural}.example.com`), NO_QUERY, NO_BODY)

const find = ({ registry }: Process, plural: string) => registry.find('example.com', 'v1', plural)

const create = ({ verbs, ...process }: Process, plural: string, metadata: Value) => {
  const served = find({ verbs, ...process }, plural)!
  const { names } = served.kind
  const object: Value = { apiVersion: 'example.com/v1', kind: names.kind, metadata }
  return verbs.create(REQUEST, { ...served, namespace: '', name: '', subresource: '' }, NO_QUERY, body(object))
}

describe('definitions', () => {
  it('are served when the response to their creation comes', async () => {
    const one = await startProcess(createMemoryStore())
    await define(one, 'widgets', 'Widget')
    expect(find(one, 'widgets')).toBeDefined()
    await create(one, 'widgets', { name: 'a' })
  })

  it('keep the revision from which there can be objects, also when they change', async () => {
    const one = await startProcess(createMemoryStore())
    await define(one, 'widgets', 'Widget')
    const since = find(one, 'widgets')!.kind.since!
    expect(since).toBeGreaterThan(0)
    const patch = { bytes: Buffer.from('{"spec":{"names":{"shortNames":["w"]}}}'), mediaType: MERGE_PATCH }
    await one.verbs.patch(REQUEST, definitionAt('widgets.example.com'), NO_QUERY, patch)
    expect(find(one, 'widgets')!.kind).toMatchObject({ since, names: { shortNames: ['w'] } })
  })

  it('are deleted with all their objects, and their kind is no longer served', async () => {
    const store = createMemoryStore()
    const one = await startProcess(store)
    await define(one, 'widgets', 'Widget')
    for (let i = 0; i < 5; i++) await create(one, 'widgets', { name: `w${i}` })
    await undefine(one, 'widgets')
    await expect.poll(() => find(one, 'widgets')).toBeUndefined()
    expect((await store.range('/example.com/widgets/')).entries).toEqual([])
    expect((await store.range(DEFINITIONS.keyPrefix)).entries).toEqual([])
  })

  it('wait for the finalizers of their objects, and allow no creates meanwhile', async () => {
    const one = await startProcess(createMemoryStore())
    await define(one, 'widgets', 'Widget')
    await create(one, 'widgets', { name: 'held', finalizers: ['example.com/hold'] })
    await undefine(one, 'widgets')
    await one.definitions.idle()
    const served = find(one, 'widgets')!
    expect(served.kind.verbs).not.toContain('create')
    const held: Target = { ...served, namespace: '', name: 'held', subresource: '' }
    const patch = { bytes: Buffer.from('{"metadata":{"finalizers":null}}'), mediaType: MERGE_PATCH }
    await one.verbs.patch(REQUEST, held, NO_QUERY, patch)
    await expect.poll(() => find(one, 'widgets')).toBeUndefined()
  })

  it('that are deleted together are no longer served when the answer comes', async () => {
    const one = await startProcess(createMemoryStore())
    await define(one, 'widgets', 'Widget')
    await define(one, 'gadgets', 'Gadget')
    const result = await one.verbs.deleteCollection(REQUEST, definitionAt(''), NO_QUERY, NO_BODY)
    for (const plural of ['widgets', 'gadgets']) expect(find(one, plural)?.kind.verbs ?? []).not.toContain('create')
    const names: unknown[] = []
    if (result.type !== 'list') throw new Error('the result is no list')
    for await (const page of result.pages) names.push(...page.map(({ value }) => value().metadata['name']))
    expect(names).toEqual(['gadgets.example.com', 'widgets.example.com'])
  })

  it('are read again when their watch ends, as often as it takes', async () => {
    const memory = createMemoryStore()
    let failures = 0
    let watch: { end(error: StorageError): void } | undefined
    const store: Store = {
      ...memory,
      async range(prefix, options) {
        if (failures > 0 && prefix === DEFINITIONS.keyPrefix && failures-- > 0) {
          throw new StorageError('unavailable', 'not now')
        }
        return memory.range(prefix, options)
      },
      watch(prefix, after, sink) {
        if (prefix === DEFINITIONS.keyPrefix) watch = sink
        return memory.watch(prefix, after, sink)
      },
    }
    const other = await startProcess(memory)
    const one = await startProcess(store)
    failures = 3
    watch!.end(new StorageError('unavailable', 'gone'))
    await define(other, 'widgets', 'Widget')
    await expect.poll(() => find(one, 'widgets'), { timeout: 5000 }).toBeDefined()
  })

  it('that wait for a name get it when it is free', async () => {
    const one = await startProcess(createMemoryStore())
    await define(one, 'widgets', 'Widget')
    await define(one, 'gadgets', 'Widget')
    expect(find(one, 'gadgets')).toBeUndefined()
    await undefine(one, 'widgets')
    await expect.poll(() => find(one, 'gadgets')?.kind.names.kind).toBe('Widget')
  })

  it('created at the same time are decided together, and a name goes to one of them', async () => {
    const memory = createMemoryStore()
    // No status is written before all four are to be written: definitions that waited for each other would wait forever.
    let waiting = 0
    let allAreThere = (): void => {}
    const all = new Promise<void>(resolve => (allAreThere = resolve))
    const slow: Store = {
      ...memory,
      async update(key, value, expected) {
        if (++waiting === 4) allAreThere()
        await all
        return memory.update(key, value, expected)
      },
    }
    const one = await startProcess(slow)
    await Promise.all(['as', 'bs', 'cs', 'ds'].map((plural, i) => define(one, plural, i < 2 ? 'Same' : `Kind${i}`)))
    expect(['as', 'bs', 'cs', 'ds'].filter(plural => find(one, plural))).toHaveLength(3)
    const [winner, loser] = find(one, 'as') ? ['as', 'bs'] : ['bs', 'as']
    await undefine(one, winner)
    await expect.poll(() => find(one, loser)?.kind.names.kind).toBe('Same')
  })

  it('whose status cannot be stored do not keep their names', async () => {
    const memory = createMemoryStore()
    let isDown = (): void => {}
    const failing = new Promise<void>(resolve => (isDown = resolve)).then((): never => {
      throw new StorageError('unavailable', 'not now')
    })
    failing.catch(() => {})
    const store: Store = {
      ...memory,
      update: (key, value, expected) =>
        key.endsWith('/as.example.com') ? failing : memory.update(key, value, expected),
    }
    const one = await startProcess(store)
    const first = define(one, 'as', 'Same')
    await expect.poll(() => memory.revision()).toBe(1)
    await define(one, 'bs', 'Same')
    expect(find(one, 'bs')).toBeUndefined()
    isDown()
    await expect(first).rejects.toThrow('not now')
    await expect.poll(() => find(one, 'bs')?.kind.names.kind).toBe('Same')
  })

  it('reach other processes on the same store, and those that start later', async () => {
    const store = createMemoryStore()
    const [one, other] = [await startProcess(store), await startProcess(store)]
    await define(one, 'widgets', 'Widget')
    await expect.poll(() => find(other, 'widgets')).toBeDefined()
    expect(find(await startProcess(store), 'widgets')).toBeDefined()
    await undefine(other, 'widgets')
    await expect.poll(() => find(one, 'widgets')).toBeUndefined()
  })
})
