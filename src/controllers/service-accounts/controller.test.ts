import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startServiceAccounts } from './controller.js'

let world: World
let controller: Controller

beforeEach(async () => {
  world = createWorld()
  await world.createNamespace('before')
  const accounts = world.registry.findKind('', 'ServiceAccount')!
  controller = await startServiceAccounts(world.context, { namespaces: world.namespaces, accounts }, quietEnv())
})
afterEach(async () => {
  controller.stop()
  await world.context.close()
  await world.store.close()
})

const accountIn = async (namespace: string): Promise<boolean> =>
  (await world.store.get(`/serviceaccounts/${namespace}/default`)) !== undefined

test('every namespace gets an account named default, and gets it again after it was deleted', async () => {
  await world.createNamespace('after')
  await expect.poll(() => accountIn('before')).toBe(true)
  await expect.poll(() => accountIn('after')).toBe(true)
  const { revision } = (await world.store.get('/serviceaccounts/after/default'))!
  await world.store.delete('/serviceaccounts/after/default', revision)
  await expect.poll(() => accountIn('after')).toBe(true)
})

test('a namespace that is being deleted gets none', async () => {
  await expect.poll(() => accountIn('before')).toBe(true)
  await world.delete(world.namespaces, '', 'before')
  const { revision } = (await world.store.get('/serviceaccounts/before/default'))!
  await world.store.delete('/serviceaccounts/before/default', revision)
  await new Promise(resolve => setTimeout(resolve, 20))
  await controller.idle()
  expect(await accountIn('before')).toBe(false)
})
