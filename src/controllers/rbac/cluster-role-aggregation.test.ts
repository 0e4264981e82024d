import { expect, test } from 'vitest'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ValueObject } from '../../meta/values/value.js'
import { createWorld } from '../../verbs/api-world.suite.js'
import { quietEnv } from '../common/controller.js'
import { startClusterRoleAggregation } from './cluster-role-aggregation.js'

const selecting = (label: string): ValueObject => ({
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] },
})
const rule = (resource: string): ValueObject => ({ verbs: ['get'], apiGroups: [''], resources: [resource] })

test('a role gets the rules of the roles that it selects, by name, each once, also through another such role', async () => {
  const world = createWorld()
  const roles = world.registry.findKind('rbac.authorization.k8s.io', 'ClusterRole')!
  const rulesOf = async (name: string) => (await world.find(roles, '', name))?.['rules']
  await world.create(roles, '', 'whole', { labels: { whole: 'true' } }, selecting('whole'))
  await world.create(roles, '', 'part', { labels: { whole: 'true' } }, selecting('part'))
  await world.create(roles, '', 'b', { labels: { part: 'true', whole: 'true' } }, { rules: [rule('pods')] })
  const controller = await startClusterRoleAggregation(world.context, roles, quietEnv())
  await expect.poll(() => rulesOf('whole')).toEqual([rule('pods')])
  await world.create(roles, '', 'a', { labels: { part: 'true' } }, { rules: [rule('nodes'), rule('pods')] })
  await expect.poll(() => rulesOf('whole')).toEqual([rule('pods'), rule('nodes')])
  expect(await rulesOf('part')).toEqual([rule('nodes'), rule('pods')])
  const managers = metaOf((await world.find(roles, '', 'part'))!).managedFields?.map(each => each.manager)
  expect(managers).toContain('clusterrole-aggregation-controller')
  await world.delete(roles, '', 'b')
  await expect.poll(() => rulesOf('whole')).toEqual([rule('nodes'), rule('pods')])
  controller.stop()
})
