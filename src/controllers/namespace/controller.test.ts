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

async function settled(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  await controller.idle()
}

test('a namespace goes with everything in it, and nothing else', async () => {
  await world.createNamespace('doomed')
  await world.createNamespace('other')
  await Promise.all(Array.from({ length: 300 }, (_, i) => world.createConfigMap('doomed', `c-${i}`)))
  await world.createConfigMap('other', 'stays')
  await world.delete(world.namespaces, '', 'doomed')
  await settled()
  expect(await world.find(world.namespaces, '', 'doomed')).toBeUndefined()
  expect((await world.store.range('/configmaps/')).entries.map(entry => entry.key)).toEqual(['/configmaps/other/stays'])
})

test('a namespace waits for what finalizers hold, and says what that is', async () => {
  await world.createNamespace('doomed')
  await world.createConfigMap('doomed', 'held', { finalizers: ['example.com/hold'] })
  await world.delete(world.namespaces, '', 'doomed')
  await settled()
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

test('a namespace goes when the last that was held in it has gone', async () => {
  await world.createNamespace('doomed')
  await world.createConfigMap('doomed', 'first', { finalizers: ['example.com/hold'] })
  await world.createConfigMap('doomed', 'last', { finalizers: ['example.com/hold'] })
  await world.delete(world.namespaces, '', 'doomed')
  await settled()
  const message = async (): Promise<unknown> => {
    const namespace = await world.find(world.namespaces, '', 'doomed')
    const { conditions } = namespace!['status'] as unknown as { conditions: ValueObject[] }
    return conditions.find(({ type }) => type === 'NamespaceContentRemaining')!['message']
  }
  const letGo = async (name: string): Promise<void> => {
    const { revision } = (await world.store.get(`/configmaps/doomed/${name}`))!
    await world.store.delete(`/configmaps/doomed/${name}`, revision)
  }
  expect(await message()).toMatch(/configmaps. has 2 /)
  await letGo('first')
  await expect.poll(message).toMatch(/configmaps. has 1 /)
  await letGo('last')
  await expect.poll(() => world.find(world.namespaces, '', 'doomed')).toBeUndefined()
})

test('what cannot be deleted does not keep the rest, and is told', async () => {
  await world.createNamespace('doomed')
  await world.createConfigMap('doomed', 'fine')
  // Whichever kind comes first.
  await world.store.create('/events/doomed/broken', Buffer.from('{'))
  await world.delete(world.namespaces, '', 'doomed')
  await settled()
  expect(await world.findConfigMap('doomed', 'fine')).toBeUndefined()
  const namespace = await world.find(world.namespaces, '', 'doomed')
  const { conditions } = namespace!['status'] as unknown as { conditions: ValueObject[] }
  expect(conditions.find(({ type }) => type === 'NamespaceDeletionContentFailure')).toMatchObject({
    status: 'True',
    reason: 'ContentDeletionFailed',
    message: expect.stringMatching(/^Failed to delete all resource types, \d remaining: /),
  })
})
