// The generation of an object whose deletion begins but is blocked. As recorded.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { metaOf } from '../../meta/object/object-meta.js'
import { createWorld, type World } from '../api-world.suite.js'

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.context.close())

const finalizers = ['example.com/held']

test('a namespace, which has a phase of its own, keeps it', async () => {
  await world.create(world.namespaces, '', 'a', { generation: 5, finalizers })
  for (const _ of ['first', 'repeated']) {
    await world.delete(world.namespaces, '', 'a')
    const namespace = (await world.find(world.namespaces, '', 'a'))!
    expect(namespace['status']).toEqual({ phase: 'Terminating' })
    expect(metaOf(namespace)).toMatchObject({ generation: 5, deletionTimestamp: expect.any(String) })
    expect(metaOf(namespace)).not.toHaveProperty('deletionGracePeriodSeconds')
  }
})

test('an object of another kind has a new one', async () => {
  await world.createConfigMap('x', 'a', { generation: 5, finalizers })
  for (const _ of ['first', 'repeated']) {
    await world.deleteConfigMap('x', 'a')
    expect(metaOf((await world.findConfigMap('x', 'a'))!)).toMatchObject({
      generation: 6,
      deletionTimestamp: expect.any(String),
      deletionGracePeriodSeconds: 0,
    })
  }
})
