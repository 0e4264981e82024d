import { expect, test } from 'vitest'
import type { ValueObject } from '../meta/values/value.js'
import { created, strategyOf } from './written-objects.suite.js'

test('a lease takes no part in elections that are not held', () => {
  const lease = created('coordination.k8s.io/v1', 'Lease', { spec: { strategy: 'x', preferredHolder: 'y' } })
  expect(lease['spec']).toEqual({})
})

test('kinds without rules of their own keep their status apart if they have a path for it', () => {
  const strategy = strategyOf('apps/v1', 'ReplicaSet')
  const object: ValueObject = { metadata: {}, status: { replicas: 3 } }
  strategy.prepareForCreate?.(object, { now: '' })
  expect(object['status']).toEqual({ replicas: 0 })
  expect(strategyOf('storage.k8s.io/v1', 'StorageClass').prepareForStatusUpdate).toBeUndefined()
})
