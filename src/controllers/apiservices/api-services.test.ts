import { afterEach, expect, test } from 'vitest'
import type { Kind } from '../../kinds/kind.js'
import { createWorld } from '../../verbs/api-world.suite.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { quietEnv } from '../common/controller.js'
import { startApiServices } from './api-services.js'

const LABEL = 'kube-aggregator.kubernetes.io/automanaged'

let cleanUp: () => Promise<void> = async () => {}
afterEach(() => cleanUp())

async function worldWithServices() {
  const world = createWorld()
  const services = world.registry.findKind('apiregistration.k8s.io', 'APIService')!
  const controller = await startApiServices(
    world.context,
    world.registry,
    services,
    ['authentication.k8s.io/v1'],
    () => true,
    quietEnv(),
  )
  cleanUp = async () => {
    controller.stop()
    await world.context.close()
  }
  await controller.idle()
  const widgets: Kind = { ...world.registry.findKind('', 'ConfigMap')!, group: 'example.com' }
  return {
    ...world,
    services,
    widgets,
    find: (name: string) => world.find(services, '', name),
    idle: () => controller.idle(),
  }
}

test('what comes with the server has its services from the start', async () => {
  const world = await worldWithServices()
  expect(await world.find('v1.')).toMatchObject({
    metadata: { labels: { [LABEL]: 'onstart' } },
    spec: { version: 'v1', groupPriorityMinimum: 18_000, versionPriority: 1 },
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
  })
  expect(await world.find('v2.autoscaling')).toMatchObject({ spec: { versionPriority: 30 } })
  expect(await world.find('v1.authentication.k8s.io')).toBeDefined()
  expect(await world.find('v1.apiregistration.k8s.io')).toBeUndefined()
})

test('services come and go with the groups that users define', async () => {
  const world = await worldWithServices()
  world.registry.put(world.widgets)
  await expect
    .poll(() => world.find('v1.example.com'))
    .toMatchObject({
      metadata: { labels: { [LABEL]: 'true' } },
      spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
    })
  world.registry.remove('example.com', 'configmaps')
  await expect.poll(() => world.find('v1.example.com')).toBeUndefined()
})

test('one that was deleted is made again', async () => {
  const world = await worldWithServices()
  const uid = (await world.find('v1.apps'))!.metadata['uid']
  await world.delete(world.services, '', 'v1.apps')
  await expect.poll(async () => (await world.find('v1.apps'))?.metadata['uid'] ?? uid).not.toBe(uid)
})

test('one of a custom group that a client has changed is changed back, unless the client has made it its own', async () => {
  const world = await worldWithServices()
  world.registry.put(world.widgets)
  await expect.poll(() => world.find('v1.example.com')).toBeDefined()
  const objects = serverObjects(world.context)
  const change = (labels: Record<string, string>) =>
    objects.change(world.services, '', 'v1.example.com', old => ({
      ...old,
      metadata: { ...old.metadata, labels },
      spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 5, versionPriority: 6 },
    }))
  await change({ [LABEL]: 'true' })
  await expect.poll(() => world.find('v1.example.com')).toMatchObject({ spec: { groupPriorityMinimum: 1000 } })
  await change({})
  await world.idle()
  expect(await world.find('v1.example.com')).toMatchObject({ spec: { groupPriorityMinimum: 5 } })
})
