import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { attributesFor, mutated } from '../attributes.suite.js'
import { defaultTolerationSeconds } from './default-toleration-seconds.js'

const tolerationsOf = async (...tolerations: ValueObject[]): Promise<ValueObject[]> => {
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { tolerations } }
  const pod = await mutated(defaultTolerationSeconds, attributesFor('pods', { object }))
  return (pod!['spec'] as { tolerations: ValueObject[] }).tolerations
}

test('a pod tolerates nodes that are not ready or unreachable for 300 seconds', async () => {
  const toleration = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }
  expect(await tolerationsOf()).toEqual([
    { key: 'node.kubernetes.io/not-ready', ...toleration },
    { key: 'node.kubernetes.io/unreachable', ...toleration },
  ])
})

test.each<[string, ValueObject, number]>([
  ['another taint', { key: 'x', operator: 'Exists', effect: 'NoSchedule' }, 3],
  ['one of the taints', { key: 'node.kubernetes.io/not-ready', operator: 'Exists' }, 2],
  ['all taints', { operator: 'Exists' }, 1],
])('with its own toleration of %s', async (_, toleration, count) => {
  expect(await tolerationsOf(toleration)).toHaveLength(count)
})
