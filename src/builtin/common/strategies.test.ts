import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { errorsOfChange, strategyOf } from '../written-objects.suite.js'

test('a status is written at its own endpoint, if the kind has one', () => {
  const strategy = strategyOf('apps/v1', 'ReplicaSet')
  const object: ValueObject = { metadata: {}, status: { replicas: 3 } }
  strategy.prepareForCreate?.(object, { now: '' })
  expect(object['status']).toEqual({ replicas: 0 })
  expect(strategyOf('storage.k8s.io/v1', 'StorageClass').prepareForStatusUpdate).toBeUndefined()
})

describe('a write to /status', () => {
  const old: ValueObject = { metadata: { name: 'x', labels: { a: 'b' }, generation: 3 }, spec: {}, status: {} }
  const write = (apiVersion: string, kind: string): ValueObject => {
    const object: ValueObject = { metadata: { name: 'x', labels: { c: 'd' }, finalizers: ['x/a'], generation: 3 } }
    strategyOf(apiVersion, kind).prepareForStatusUpdate!(object, old, { now: '' })
    return object['metadata'] as ValueObject
  }

  test.each([
    ['apiregistration.k8s.io/v1', 'APIService'],
    ['flowcontrol.apiserver.k8s.io/v1', 'FlowSchema'],
    ['flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration'],
    ['networking.k8s.io/v1', 'ServiceCIDR'],
    ['storage.k8s.io/v1', 'VolumeAttachment'],
    ['storagemigration.k8s.io/v1beta1', 'StorageVersionMigration'],
    ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy'],
    ['resource.k8s.io/v1', 'ResourceClaim'],
  ])('keeps the metadata: %s %s', (apiVersion, kind) => {
    expect(write(apiVersion, kind)).toEqual({ name: 'x', labels: { a: 'b' }, generation: 3 })
  })

  test('of another kind may change labels', () => {
    expect(write('v1', 'Node')['labels']).toEqual({ c: 'd' })
  })

  test('of a pod ignores a deletionTimestamp', () => {
    const metadata = { deletionTimestamp: '2020-01-01T00:00:00Z' }
    expect(errorsOfChange('v1', 'Pod', POD, { metadata }, 'status')).toEqual([])
  })
})

const POD: ValueObject = { spec: { containers: [{ name: 'c', image: 'i' }] } }
