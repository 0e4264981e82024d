import { afterEach, beforeEach, expect, test } from 'vitest'
import { isObject, type ValueObject } from '../../meta/values/value.js'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startNamespaceController } from './controller.js'

let world: World
let controller: Controller

beforeEach(async () => {
  world = createWorld()
  controller = await startNamespaceController(world.context, world.registry, world.namespaces, quietEnv())
})
afterEach(async () => {
  controller.stop()
  await world.context.close()
  await world.store.close()
})

async function reconciled(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  await controller.idle()
}

test('a namespace is deleted with everything in it, and nothing else', async () => {
  await world.createNamespace('doomed')
  await world.createNamespace('other')
  await Promise.all(Array.from({ length: 300 }, (_, i) => world.createConfigMap('doomed', `c-${i}`)))
  await world.createConfigMap('other', 'stays')
  await world.delete(world.namespaces, '', 'doomed')
  await reconciled()
  expect(await world.find(world.namespaces, '', 'doomed')).toBeUndefined()
  expect((await world.store.range('/configmaps/')).entries.map(entry => entry.key)).toEqual(['/configmaps/other/stays'])
})

test('a namespace waits for objects with finalizers, and its conditions list them', async () => {
  await world.createNamespace('doomed')
  await world.createConfigMap('doomed', 'held', { finalizers: ['example.com/hold'] })
  await world.delete(world.namespaces, '', 'doomed')
  await reconciled()
  const namespace = await world.find(world.namespaces, '', 'doomed')
  const status = isObject(namespace?.['status']) ? namespace['status'] : {}
  const conditions = status['conditions'] as (ValueObject & { type: string; status: string })[]
  expect(status['phase']).toBe('Terminating')
  expect(conditions.map(({ type, status: state }) => `${type}=${state}`)).toEqual([
    'NamespaceDeletionDiscoveryFailure=False',
    'NamespaceDeletionGroupVersionParsingFailure=False',
    'NamespaceDeletionContentFailure=False',
    'NamespaceContentRemaining=True',
    'NamespaceFinalizersRemaining=True',
  ])
  expect(conditions[3]!['message']).toBe('Some resources are remaining: configmaps. has 1 resource instances')
})

test('a namespace is deleted after the last object with a finalizer', async () => {
  await world.createNamespace('doomed')
  await world.createConfigMap('doomed', 'first', { finalizers: ['example.com/hold'] })
  await world.createConfigMap('doomed', 'last', { finalizers: ['example.com/hold'] })
  await world.delete(world.namespaces, '', 'doomed')
  await reconciled()
  const message = async (): Promise<unknown> => {
    const namespace = await world.find(world.namespaces, '', 'doomed')
    const { conditions } = namespace!['status'] as unknown as { conditions: ValueObject[] }
    return conditions.find(({ type }) => type === 'NamespaceContentRemaining')!['message']
  }
  const removeObject = async (name: string): Promise<void> => {
    const { revision } = (await world.store.get(`/configmaps/doomed/${name}`))!
    await world.store.delete(`/configmaps/doomed/${name}`, revision)
  }
  expect(await message()).toMatch(/configmaps. has 2 /)
  await removeObject('first')
  await expect.poll(message).toMatch(/configmaps. has 1 /)
  await removeObject('last')
  await expect.poll(() => world.find(world.namespaces, '', 'doomed')).toBeUndefined()
})

test('an object that cannot be deleted does not keep the rest, and a condition reports it', async () => {
  await world.createNamespace('doomed')
  await world.createConfigMap('doomed', 'fine')
  // Events are deleted before or after ConfigMaps.
  await world.store.create('/events/doomed/broken', Buffer.from('{'))
  await world.delete(world.namespaces, '', 'doomed')
  await reconciled()
  expect(await world.findConfigMap('doomed', 'fine')).toBeUndefined()
  const namespace = await world.find(world.namespaces, '', 'doomed')
  const { conditions } = namespace!['status'] as unknown as { conditions: ValueObject[] }
  expect(conditions.find(({ type }) => type === 'NamespaceDeletionContentFailure')).toMatchObject({
    status: 'True',
    reason: 'ContentDeletionFailed',
    message: expect.stringMatching(/^Failed to delete all resource types, \d remaining: /),
  })
})

test('pods are deleted first, and the rest when no pods are left', async () => {
  await world.createNamespace('doomed')
  await world.createPod('doomed', 'held', {}, { finalizers: ['example.com/hold'] })
  await world.createConfigMap('doomed', 'needed')
  await world.delete(world.namespaces, '', 'doomed')
  await reconciled()
  expect(await world.findConfigMap('doomed', 'needed')).toBeDefined()
  const { revision } = (await world.store.get('/pods/doomed/held'))!
  await world.store.delete('/pods/doomed/held', revision)
  await expect.poll(() => world.findConfigMap('doomed', 'needed')).toBeUndefined()
  await expect.poll(() => world.find(world.namespaces, '', 'doomed')).toBeUndefined()
})

test('a grace period that ends during a try is noticed, though the clock stands from then on', async () => {
  let now = Date.UTC(2024, 0, 1)
  let tries = 0
  const frozen = createWorld(() => now)
  const clock = { elapsed: () => 0, now: () => now, after: () => () => {} }
  // The conditions that the first try writes lead to the second, which writes nothing.
  const passTime = {
    async deleteAll() {
      if (++tries === 2) now += 60_000
    },
  }
  const { context, registry, namespaces } = frozen
  const running = await startNamespaceController(context, registry, namespaces, quietEnv(clock), passTime)
  await frozen.createNamespace('doomed')
  await frozen.createPod('doomed', 'bound', { nodeName: 'n', terminationGracePeriodSeconds: 30 })
  await frozen.delete(namespaces, '', 'doomed')
  await expect.poll(() => frozen.find(namespaces, '', 'doomed')).toBeUndefined()
  running.stop()
  await context.close()
  await frozen.store.close()
})
