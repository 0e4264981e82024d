import { describe, expect, test } from 'vitest'
import { attributesFor, refusalOf } from '../attributes.suite.js'
import { namespaceLifecycle } from './namespace-lifecycle.js'

const plugin = namespaceLifecycle(name =>
  name === 'x' || name === 'terminating' ? { isTerminating: name === 'terminating', labels: {} } : undefined,
)
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }

describe('an object', () => {
  test.each([
    ['CREATE', 'x', ''],
    ['CREATE', 'absent', 'namespaces "absent" not found'],
    ['UPDATE', 'absent', 'namespaces "absent" not found'],
    ['UPDATE', 'terminating', ''],
    ['DELETE', 'absent', ''],
    ['CREATE', '', ''],
  ] as const)('%s in namespace %j: %j', async (operation, namespace, refusal) => {
    expect(await refusalOf(plugin, attributesFor('configmaps', { operation, namespace, object }))).toBe(refusal)
  })

  test('is not created in a namespace that is being deleted', async () => {
    const attributes = attributesFor('configmaps', { namespace: 'terminating', object })
    expect(await refusalOf(plugin, attributes)).toBe(
      'configmaps "a" is forbidden: unable to create new content in namespace terminating because it is being terminated',
    )
  })
})

test('an access review may name a namespace that does not exist', async () => {
  const review = attributesFor('localsubjectaccessreviews.authorization.k8s.io', { namespace: 'absent', object })
  expect(await refusalOf(plugin, review)).toBe('')
})

test.each([
  ['default', 'namespaces "default" is forbidden: this namespace may not be deleted'],
  ['kube-node-lease', ''],
])('deleting the namespace %s', async (name, refusal) => {
  const attributes = attributesFor('namespaces', { operation: 'DELETE', namespace: name, name })
  expect(await refusalOf(plugin, attributes)).toBe(refusal)
})
