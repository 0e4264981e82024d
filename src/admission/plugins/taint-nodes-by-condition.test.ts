import { expect, test } from 'vitest'
import { attributesFor } from '../attributes.suite.js'
import { taintNodesByCondition } from './taint-nodes-by-condition.js'

test('a new node is tainted as not ready, once', () => {
  const object = { apiVersion: 'v1', kind: 'Node', metadata: {}, spec: {} }
  const tainted = { ...object, spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } }
  const { mutate } = taintNodesByCondition
  expect(mutate!(attributesFor('nodes', { object, namespace: '' }))).toEqual(tainted)
  expect(mutate!(attributesFor('nodes', { object: tainted, namespace: '' }))).toBeUndefined()
})
