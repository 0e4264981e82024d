import { expect, test } from 'vitest'
import type { Admission } from '../../admission/chain.js'
import { createWorld } from '../../verbs/api-world.suite.js'
import { systemObjects } from '../../verbs/system-writes.js'
import { quietEnv } from '../common/controller.js'
import { startRootCaPublisher } from './root-ca.js'

test('every namespace gets the authority, and gets it back when it was changed', async () => {
  const world = createWorld()
  const configMaps = world.registry.findKind('', 'ConfigMap')!
  const { namespaces } = world
  await world.createNamespace('n')
  await world.create(configMaps, 'n', 'kube-root-ca.crt', {}, { data: { other: 'x' } })
  const controller = await startRootCaPublisher(world.context, { namespaces, configMaps }, 'PEM', quietEnv())
  const dataOf = async () => (await world.findConfigMap('n', 'kube-root-ca.crt'))?.['data']
  await expect.poll(dataOf).toEqual({ 'ca.crt': 'PEM' })
  await world.deleteConfigMap('n', 'kube-root-ca.crt')
  await expect.poll(dataOf).toEqual({ 'ca.crt': 'PEM' })
  controller.stop()
})

test('an authority that comes back after it was replaced is that of another publisher, and stays', async () => {
  const world = createWorld()
  const configMaps = world.registry.findKind('', 'ConfigMap')!
  const { namespaces } = world
  await world.createNamespace('n')
  const controller = await startRootCaPublisher(world.context, { namespaces, configMaps }, 'PEM', quietEnv())
  const dataOf = async (namespace: string) => (await world.findConfigMap(namespace, 'kube-root-ca.crt'))?.['data']
  await expect.poll(() => dataOf('n')).toEqual({ 'ca.crt': 'PEM' })
  const publishAnother = () =>
    systemObjects(world.context, 'another').change(configMaps, 'n', 'kube-root-ca.crt', old => ({
      ...old,
      data: { 'ca.crt': 'OTHER' },
    }))
  await publishAnother()
  await expect.poll(() => dataOf('n')).toEqual({ 'ca.crt': 'PEM' })
  await publishAnother()
  // The object of a namespace that was created later shows that the change has been looked at.
  await world.createNamespace('later')
  await expect.poll(() => dataOf('later')).toEqual({ 'ca.crt': 'PEM' })
  expect(await dataOf('n')).toEqual({ 'ca.crt': 'OTHER' })
  controller.stop()
})

test('an object that exists is not created in vain, since quotas would count it', async () => {
  const world = createWorld()
  const configMaps = world.registry.findKind('', 'ConfigMap')!
  const { namespaces } = world
  await world.createNamespace('n')
  await world.create(configMaps, 'n', 'kube-root-ca.crt', {}, { data: { other: 'x' } })
  const operations: string[] = []
  const admission: Admission = {
    ...world.context.admission,
    validate: async ({ operation }) => {
      operations.push(operation)
    },
  }
  const context = { ...world.context, admission }
  const controller = await startRootCaPublisher(context, { namespaces, configMaps }, 'PEM', quietEnv())
  await expect
    .poll(async () => (await world.findConfigMap('n', 'kube-root-ca.crt'))?.['data'])
    .toEqual({ 'ca.crt': 'PEM' })
  expect(operations).toEqual(['UPDATE'])
  controller.stop()
})
