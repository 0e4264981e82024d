import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { metaOf } from '../../meta/object/object-meta.js'
import { StorageError } from '../../storage/storage-error.js'
import { createWorld, ownedBy, type World } from '../../verbs/api-world.suite.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startGarbageCollector } from './garbage-collector.js'

let world: World
let collector: Controller

beforeEach(() => {
  world = createWorld()
  collector = startGarbageCollector(world.store, world.context, world.registry, quietEnv(), { newDependentDelayMs: 0 })
})
afterEach(async () => {
  collector.stop()
  await world.context.close()
  await world.store.close()
})

/** Lets the collector see all events and finish the work that follows from them. */
async function reconciled(): Promise<void> {
  for (let round = 0; round < 8; round++) {
    await new Promise(resolve => setImmediate(resolve))
    await collector.idle()
  }
}

const names = async (...wanted: string[]) => {
  const found = await Promise.all(wanted.map(name => world.findConfigMap('default', name)))
  return wanted.filter((_, i) => found[i])
}

describe('in the background', () => {
  test('dependents are deleted after their owner, and their dependents after them', async () => {
    const owner = await world.createConfigMap('default', 'owner')
    const child = await world.createConfigMap('default', 'child', ownedBy(owner))
    await world.createConfigMap('default', 'grandchild', ownedBy(child))
    await world.createConfigMap('default', 'unrelated')
    await world.deleteConfigMap('default', 'owner')
    await reconciled()
    expect(await names('owner', 'child', 'grandchild', 'unrelated')).toEqual(['unrelated'])
  })

  test('a dependent with another owner left only loses the reference', async () => {
    const one = await world.createConfigMap('default', 'one')
    const two = await world.createConfigMap('default', 'two')
    const references = [...ownedBy(one).ownerReferences, ...ownedBy(two).ownerReferences]
    await world.createConfigMap('default', 'child', { ownerReferences: references })
    await world.deleteConfigMap('default', 'one')
    await reconciled()
    const child = await world.findConfigMap('default', 'child')
    expect(metaOf(child!).ownerReferences?.map(owner => owner.name)).toEqual(['two'])
    await world.deleteConfigMap('default', 'two')
    await reconciled()
    expect(await names('child')).toEqual([])
  })

  test('a dependent whose owner does not exist is deleted', async () => {
    const owner = await world.createConfigMap('default', 'owner')
    await world.createConfigMap('default', 'child', ownedBy(owner, { uid: 'another' }))
    await reconciled()
    expect(await names('owner', 'child')).toEqual(['owner'])
  })

  test('a new dependent whose owner does not exist is deleted after a delay, one whose owner is deleted at once', async () => {
    collector.stop()
    collector = startGarbageCollector(world.store, world.context, world.registry, quietEnv(), {
      newDependentDelayMs: 60_000,
    })
    const owner = await world.createConfigMap('default', 'owner')
    await reconciled()
    await world.createConfigMap('default', 'absent', ownedBy(owner, { uid: 'another' }))
    await world.createConfigMap('default', 'deleted', ownedBy(owner))
    await reconciled()
    await world.deleteConfigMap('default', 'owner')
    await reconciled()
    expect(await names('absent', 'deleted')).toEqual(['absent'])
  })

  test('a dependent whose owner is of a kind that is not served stays', async () => {
    const owner = await world.createConfigMap('default', 'owner')
    await world.createConfigMap('default', 'child', ownedBy(owner, { apiVersion: 'example.com/v1', kind: 'Widget' }))
    await reconciled()
    expect(await names('child')).toEqual(['child'])
  })
})

test('in the foreground the owner waits for dependents that block', async () => {
  const owner = await world.createConfigMap('default', 'owner')
  await world.createConfigMap('default', 'child', {
    ...ownedBy(owner, { blockOwnerDeletion: true }),
    finalizers: ['example.com/hold'],
  })
  await world.deleteConfigMap('default', 'owner', { propagationPolicy: 'Foreground' })
  await reconciled()
  expect(await names('owner', 'child')).toEqual(['owner', 'child'])
  await world.dropFinalizers('default', 'child')
  await reconciled()
  expect(await names('owner', 'child')).toEqual([])
})

test('orphans lose the reference and stay', async () => {
  const owner = await world.createConfigMap('default', 'owner')
  await world.createConfigMap('default', 'child', ownedBy(owner))
  await world.deleteConfigMap('default', 'owner', { propagationPolicy: 'Orphan' })
  await reconciled()
  expect(await names('owner', 'child')).toEqual(['child'])
  expect(metaOf((await world.findConfigMap('default', 'child'))!).ownerReferences).toBeUndefined()
})

test('in the foreground the owner does not wait for one that has another owner and only loses the reference', async () => {
  const one = await world.createConfigMap('default', 'one')
  const two = await world.createConfigMap('default', 'two')
  const references = [...ownedBy(one, { blockOwnerDeletion: true }).ownerReferences, ...ownedBy(two).ownerReferences]
  await world.createConfigMap('default', 'child', { ownerReferences: references })
  await reconciled()
  await world.deleteConfigMap('default', 'one', { propagationPolicy: 'Foreground' })
  await reconciled()
  expect(await names('one', 'two', 'child')).toEqual(['two', 'child'])
})

describe('a circle of owners that block', () => {
  const FOREGROUND = { propagationPolicy: 'Foreground' } as const

  /** Each is owned by the one before it, the first by the last. */
  async function createCircle(...members: string[]): Promise<void> {
    const made = await Promise.all(members.map(name => world.createConfigMap('default', name)))
    for (const [i, name] of members.entries())
      await world.setMeta('default', name, ownedBy(made.at(i - 1)!, { blockOwnerDeletion: true }))
  }

  test.each([[['a']], [['a', 'b']], [['a', 'b', 'c']]])(
    'is deleted when one member is deleted in the foreground: %j',
    async all => {
      await createCircle(...all)
      await reconciled()
      await world.deleteConfigMap('default', 'a', FOREGROUND)
      await reconciled()
      expect(await names(...all)).toEqual([])
    },
  )

  test.each([[['a']], [['a', 'b']], [['a', 'b', 'c']]])(
    'is deleted when all members were marked before the start: %j',
    async all => {
      collector.stop()
      await createCircle(...all)
      for (const name of all) await world.deleteConfigMap('default', name, FOREGROUND)
      collector = startGarbageCollector(world.store, world.context, world.registry, quietEnv(), {
        newDependentDelayMs: 0,
      })
      await reconciled()
      expect(await names(...all)).toEqual([])
    },
  )

  test('does not block its own members, but other dependents do', async () => {
    await createCircle('a', 'b')
    const b = (await world.findConfigMap('default', 'b'))!
    const hold = { ...ownedBy(b, { blockOwnerDeletion: true }), finalizers: ['example.com/hold'] }
    await world.createConfigMap('default', 'held', hold)
    await reconciled()
    await world.deleteConfigMap('default', 'a', FOREGROUND)
    await reconciled()
    expect(await names('a', 'b', 'held')).toEqual(['b', 'held'])
    await world.dropFinalizers('default', 'held')
    await reconciled()
    expect(await names('b', 'held')).toEqual([])
  })

  test('is opened at its last member, so that the rest are still deleted after their dependents', async () => {
    await createCircle('a', 'b', 'c')
    const { finalizers = [] } = metaOf((await world.findConfigMap('default', 'b'))!)
    await world.setMeta('default', 'b', { finalizers: [...finalizers, 'example.com/hold'] })
    await reconciled()
    await world.deleteConfigMap('default', 'a', FOREGROUND)
    await reconciled()
    expect(await names('a', 'b', 'c')).toEqual(['a', 'b', 'c'])
    const { ownerReferences } = metaOf((await world.findConfigMap('default', 'c'))!)
    expect(ownerReferences).toMatchObject([{ name: 'b', blockOwnerDeletion: false }])
    await world.dropFinalizers('default', 'b')
    await reconciled()
    expect(await names('a', 'b', 'c')).toEqual([])
  })
})

test('an owner in foreground deletion does not wait for ever for a dependent in another namespace', async () => {
  await world.createNamespace('other')
  const owner = await world.createConfigMap('default', 'owner')
  const [reference] = ownedBy(owner).ownerReferences
  const blocking = [{ ...reference, blockOwnerDeletion: true }]
  await world.createConfigMap('other', 'child', { ownerReferences: blocking, finalizers: ['example.com/hold'] })
  await world.deleteConfigMap('default', 'owner', { propagationPolicy: 'Foreground' })
  await reconciled()
  const { revision } = (await world.store.get('/configmaps/other/child'))!
  await world.store.delete('/configmaps/other/child', revision)
  await expect.poll(() => names('owner')).toEqual([])
})

test('what happened while the watch was interrupted is made up for', async () => {
  collector.stop()
  let sink: Parameters<typeof world.store.watch>[2] | undefined
  const store = {
    ...world.store,
    watch: (...[, , given]: Parameters<typeof world.store.watch>) => {
      sink = given
      return { resume() {}, requestProgress() {}, close() {} }
    },
  }
  const owner = await world.createConfigMap('default', 'owner')
  await world.createConfigMap('default', 'child', ownedBy(owner))
  collector = startGarbageCollector(store, world.context, world.registry, quietEnv(), { newDependentDelayMs: 0 })
  await expect.poll(() => sink).toBeDefined()
  await reconciled()
  await world.deleteConfigMap('default', 'owner')
  await reconciled()
  expect(await names('child')).toEqual(['child'])
  sink!.end(new StorageError('compacted', 'interrupted'))
  await expect.poll(() => names('child')).toEqual([])
})
