import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Kind } from '../../kinds/kind.js'
import type { ValueObject } from '../../meta/values/value.js'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startResourceQuotas } from './resource-quota.js'

let world: World
let quotas: Kind
let controller: Controller

beforeEach(async () => {
  world = createWorld()
  quotas = world.registry.findKind('', 'ResourceQuota')!
  await world.createNamespace('n')
  controller = await startResourceQuotas(world.store, world.context, world.registry, quotas, quietEnv())
})
afterEach(async () => {
  controller.stop()
  await world.context.close()
})

const createQuota = (hard: ValueObject, spec: ValueObject = {}) =>
  world.create(quotas, 'n', 'q', {}, { spec: { hard, ...spec } })
const status = async () => (await world.find(quotas, 'n', 'q'))?.['status'] as ValueObject | undefined
const used = async () => (await status())?.['used']

test('a new quota gets its limits and what is used of them', async () => {
  await world.createConfigMap('n', 'a')
  await world.createPod('n', 'p', { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '250m' } } }] })
  await createQuota({ configmaps: '5', 'count/secrets': '1', 'requests.cpu': '2', pods: '3', 'count/no.such': '1' })
  await expect.poll(used).toEqual({ configmaps: '1', 'count/secrets': '0', 'requests.cpu': '250m', pods: '1' })
  expect((await status())!['hard']).toMatchObject({ configmaps: '5', 'count/no.such': '1' })
})

test('usage is released when objects are deleted and when pods have ended', async () => {
  await world.createConfigMap('n', 'a')
  await world.createConfigMap('n', 'b')
  await world.createPod('n', 'p')
  await createQuota({ configmaps: '5', pods: '5', 'count/pods': '5' })
  await expect.poll(used).toEqual({ configmaps: '2', pods: '1', 'count/pods': '1' })
  await world.deleteConfigMap('n', 'a')
  await expect.poll(used).toMatchObject({ configmaps: '1' })
  await world.setStatus(world.pods, 'n', 'p', { phase: 'Succeeded' })
  await expect.poll(used).toMatchObject({ pods: '0', 'count/pods': '1' })
})

test('a quota with a scope counts the objects in it, and none of kinds that have no scopes', async () => {
  await world.createConfigMap('n', 'a')
  await world.createPod('n', 'p', { activeDeadlineSeconds: 1 })
  await world.createPod('n', 'q')
  await createQuota({ pods: '5' }, { scopes: ['Terminating'] })
  await expect.poll(used).toEqual({ pods: '1' })
})
