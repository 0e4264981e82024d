import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { strategyOf } from '../written-objects.suite.js'

const now = '2026-01-01T00:00:00Z'
const strategy = (apiVersion: string, kind: string) => strategyOf(apiVersion, kind)

const newClaim = (spec: ValueObject): ValueObject => {
  const claim: ValueObject = { metadata: { name: 'a' }, spec }
  strategy('v1', 'PersistentVolumeClaim').prepareForCreate!(claim, { now })
  return claim['spec'] as ValueObject
}

test('dataSource and dataSourceRef of a claim are kept equal', () => {
  const source = { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'b' }
  expect(newClaim({ dataSource: source })).toEqual({ dataSource: source, dataSourceRef: source })
  expect(newClaim({ dataSourceRef: source })).toEqual({ dataSource: source, dataSourceRef: source })
})

test('a kind that dataSource does not support is dropped from it', () => {
  expect(newClaim({ dataSource: { kind: 'Odd', name: 'b' } })).toEqual({})
  const other = { apiGroup: 'example.com', kind: 'Image', name: 'b' }
  expect(newClaim({ dataSource: { kind: 'Odd', name: 'b' }, dataSourceRef: { ...other, namespace: 'n' } })).toEqual({})
  expect(newClaim({ dataSourceRef: other })).toEqual({ dataSource: other, dataSourceRef: other })
})

test('a volume has the time of the last change of its phase', () => {
  const { prepareForCreate, prepareForStatusUpdate } = strategy('v1', 'PersistentVolume')
  const volume: ValueObject = { metadata: {}, spec: {} }
  prepareForCreate!(volume, { now })
  expect(volume['status']).toEqual({ phase: 'Pending', lastPhaseTransitionTime: now })
  const later = '2026-01-02T00:00:00Z'
  const bound: ValueObject = { ...volume, status: { phase: 'Bound', lastPhaseTransitionTime: now } }
  prepareForStatusUpdate!(bound, volume, { now: later })
  expect(bound['status']).toEqual({ phase: 'Bound', lastPhaseTransitionTime: later })
})
