import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startKeptObjects } from './controller.js'

let world: World
let controller: Controller

beforeEach(async () => {
  world = createWorld()
  await world.createNamespace('default')
  const kind = world.registry.findKind('', 'ConfigMap')!
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'kept' } }
  controller = await startKeptObjects(world.context, [{ kind, object }], quietEnv())
})
afterEach(async () => {
  controller.stop()
  await world.context.close()
  await world.store.close()
})

const entry = () => world.store.get('/configmaps/default/kept')

test('a missing object is created, and created again when it was deleted', async () => {
  await expect.poll(entry).toBeDefined()
  await world.deleteConfigMap('default', 'kept')
  await expect.poll(entry).toBeDefined()
})
