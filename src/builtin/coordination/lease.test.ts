import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { created, errorsOf, tableRowOf } from '../written-objects.suite.js'

const KIND = ['coordination.k8s.io/v1', 'Lease'] as const

test.each<[ValueObject, string[]]>([
  [{ leaseDurationSeconds: 0 }, ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0']],
  [{ leaseTransitions: -1 }, ['spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0']],
  [{ holderIdentity: '' }, []],
])('a lease with %j', (spec, errors) => {
  expect(errorsOf(...KIND, { spec })).toEqual(errors)
})

test('the row names the holder', () => {
  const row = tableRowOf('coordination.k8s.io/v1', 'leases')
  expect(row(created(...KIND, { spec: { holderIdentity: 'me' } }), 0)).toEqual(['x', 'me', '<unknown>'])
})
