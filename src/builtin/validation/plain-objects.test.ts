import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { errorsOf } from '../written-objects.suite.js'

test.each<[ValueObject, string[]]>([
  [{ leaseDurationSeconds: 0 }, ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0']],
  [{ leaseTransitions: -1 }, ['spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0']],
  [{ holderIdentity: '' }, []],
])('a lease with %j', (spec, errors) => {
  expect(errorsOf('coordination.k8s.io/v1', 'Lease', { spec })).toEqual(errors)
})
