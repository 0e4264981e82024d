import { expect, test } from 'vitest'
import { createWorld } from '../../verbs/api-world.suite.js'
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
