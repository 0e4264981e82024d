import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startAttributesClassProtection, startClaimProtection, startVolumeProtection } from './protected-kinds.js'

let world: World
let claims: Kind
let volumes: Kind
let classes: Kind
let controllers: Controller[]

beforeEach(async () => {
  world = createWorld()
  claims = world.registry.findKind('', 'PersistentVolumeClaim')!
  volumes = world.registry.findKind('', 'PersistentVolume')!
  classes = world.registry.findKind('storage.k8s.io', 'VolumeAttributesClass')!
  await world.createNamespace('n')
  controllers = await Promise.all([
    startClaimProtection(world.context, { claims, pods: world.pods }, quietEnv()),
    startVolumeProtection(world.context, volumes, quietEnv()),
    startAttributesClassProtection(world.context, { classes, claims, volumes }, quietEnv()),
  ])
})
afterEach(async () => {
  for (const controller of controllers) controller.stop()
  await world.context.close()
})

const claimSpec = {
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}
const volumeSpec = {
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } },
}
const finalizersOf = async (kind: Kind, namespace: string, name: string) => {
  const found = await world.find(kind, namespace, name)
  return found && (metaOf(found).finalizers ?? [])
}
const idle = () => Promise.all(controllers.map(each => each.idle()))

test('a claim is protected, and is deleted when no pod on a node uses it any more', async () => {
  await world.create(claims, 'n', 'c', {}, claimSpec)
  await expect.poll(() => finalizersOf(claims, 'n', 'c')).toEqual(['kubernetes.io/pvc-protection'])
  const pod = { nodeName: 'node', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }
  await world.createPod('n', 'user', pod)
  await world.delete(claims, 'n', 'c')
  await idle()
  expect(await finalizersOf(claims, 'n', 'c')).toEqual(['kubernetes.io/pvc-protection'])
  await world.delete(world.pods, 'n', 'user', { gracePeriodSeconds: 0 })
  await expect.poll(() => finalizersOf(claims, 'n', 'c')).toBeUndefined()
})

test('a pod that no node runs does not keep a claim', async () => {
  await world.create(claims, 'n', 'c', {}, claimSpec)
  await expect.poll(() => finalizersOf(claims, 'n', 'c')).toHaveLength(1)
  await world.createPod('n', 'user', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] })
  await world.delete(claims, 'n', 'c')
  await expect.poll(() => finalizersOf(claims, 'n', 'c')).toBeUndefined()
})

test('a volume is kept while it is bound', async () => {
  await world.create(volumes, '', 'v', {}, volumeSpec)
  await expect.poll(() => finalizersOf(volumes, '', 'v')).toEqual(['kubernetes.io/pv-protection'])
  await world.setStatus(volumes, '', 'v', { phase: 'Bound' })
  await world.delete(volumes, '', 'v')
  await idle()
  expect(await finalizersOf(volumes, '', 'v')).toHaveLength(1)
  await world.setStatus(volumes, '', 'v', { phase: 'Released' })
  await expect.poll(() => finalizersOf(volumes, '', 'v')).toBeUndefined()
})

test('an attributes class is kept while a claim names it', async () => {
  await world.create(classes, '', 'gold', {}, { driverName: 'd', parameters: { a: 'b' } })
  await expect.poll(() => finalizersOf(classes, '', 'gold')).toEqual(['kubernetes.io/vac-protection'])
  await world.create(claims, 'n', 'c', {}, { spec: { ...claimSpec.spec, volumeAttributesClassName: 'gold' } })
  await world.delete(classes, '', 'gold')
  await idle()
  expect(await finalizersOf(classes, '', 'gold')).toHaveLength(1)
  await world.delete(claims, 'n', 'c')
  await expect.poll(() => finalizersOf(classes, '', 'gold')).toBeUndefined()
})
