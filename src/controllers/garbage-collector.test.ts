import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { metaOf } from '../meta/object-meta.js'
import { createWorld, ownedBy, type World } from './controllers.suite.js'
import { startGarbageCollector } from './garbage-collector.js'
import type { Controller } from './namespace-controller.js'

let world: World
let collector: Controller

beforeEach(() => {
  world = createWorld()
  collector = startGarbageCollector(world.store, world.context, world.registry, { patienceMs: 0 })
})
afterEach(async () => {
  collector.stop()
  await world.context.close()
  await world.store.close()
})

/** Lets the collector take in what happened and finish what follows from it. */
async function settled(): Promise<void> {
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
  test('dependents go after their owner, and theirs after them', async () => {
    const owner = await world.createConfigMap('default', 'owner')
    const child = await world.createConfigMap('default', 'child', ownedBy(owner))
    await world.createConfigMap('default', 'grandchild', ownedBy(child))
    await world.createConfigMap('default', 'stranger')
    await world.deleteConfigMap('default', 'owner')
    await settled()
    expect(await names('owner', 'child', 'grandchild', 'stranger')).toEqual(['stranger'])
  })

  test('one with another owner left only loses the reference', async () => {
    const one = await world.createConfigMap('default', 'one')
    const two = await world.createConfigMap('default', 'two')
    const references = [...ownedBy(one).ownerReferences, ...ownedBy(two).ownerReferences]
    await world.createConfigMap('default', 'child', { ownerReferences: references })
    await world.deleteConfigMap('default', 'one')
    await settled()
    const child = await world.findConfigMap('default', 'child')
    expect(metaOf(child!).ownerReferences?.map(owner => owner.name)).toEqual(['two'])
    await world.deleteConfigMap('default', 'two')
    await settled()
    expect(await names('child')).toEqual([])
  })

  test('one whose owner never was goes', async () => {
    const owner = await world.createConfigMap('default', 'owner')
    await world.createConfigMap('default', 'child', ownedBy(owner, { uid: 'another' }))
    await settled()
    expect(await names('owner', 'child')).toEqual(['owner'])
  })

  test('one whose owner was never seen is given time, one whose owner has gone is not', async () => {
    collector.stop()
    collector = startGarbageCollector(world.store, world.context, world.registry, { patienceMs: 60_000 })
    const owner = await world.createConfigMap('default', 'owner')
    await world.createConfigMap('default', 'early', ownedBy(owner, { uid: 'another' }))
    await world.createConfigMap('default', 'late', ownedBy(owner))
    await settled()
    await world.deleteConfigMap('default', 'owner')
    await settled()
    expect(await names('early', 'late')).toEqual(['early'])
  })

  test('one whose owner is of a kind that nobody serves stays', async () => {
    const owner = await world.createConfigMap('default', 'owner')
    await world.createConfigMap('default', 'child', ownedBy(owner, { apiVersion: 'example.com/v1', kind: 'Widget' }))
    await settled()
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
  await settled()
  expect(await names('owner', 'child')).toEqual(['owner', 'child'])
  await world.dropFinalizers('default', 'child')
  await settled()
  expect(await names('owner', 'child')).toEqual([])
})

test('orphans lose the reference and stay', async () => {
  const owner = await world.createConfigMap('default', 'owner')
  await world.createConfigMap('default', 'child', ownedBy(owner))
  await world.deleteConfigMap('default', 'owner', { propagationPolicy: 'Orphan' })
  await settled()
  expect(await names('owner', 'child')).toEqual(['child'])
  expect(metaOf((await world.findConfigMap('default', 'child'))!).ownerReferences).toBeUndefined()
})
