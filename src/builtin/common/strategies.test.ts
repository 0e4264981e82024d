import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { strategyOf } from '../written-objects.suite.js'

test('a status is written at its own endpoint, if the kind has one', () => {
  const strategy = strategyOf('apps/v1', 'ReplicaSet')
  const object: ValueObject = { metadata: {}, status: { replicas: 3 } }
  strategy.prepareForCreate?.(object, { now: '' })
  expect(object['status']).toEqual({ replicas: 0 })
  expect(strategyOf('storage.k8s.io/v1', 'StorageClass').prepareForStatusUpdate).toBeUndefined()
})
