import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { created, errorsOfChange, tableRowOf, validationOf } from '../written-objects.suite.js'

const KIND = ['scheduling.k8s.io/v1', 'PriorityClass'] as const

test.each<[string, ValueObject, string[]]>([
  ['system-node-critical', { value: 2_000_001_000 }, []],
  ['system-node-critical', { value: 5 }, ['value of system-node-critical PriorityClass must be 2000001000']],
  ['system-mine', {}, ['system-mine is not a known system priority class']],
  ['mine', { value: -5 }, []],
])('the class %s with %j', (name, fields, errors) => {
  const found = validationOf(...KIND, false).create({ metadata: { name }, preemptionPolicy: 'Never', ...fields })
  expect(found.map(({ detail }) => detail.split('error: ')[1])).toEqual(errors)
})

test('value and policy stay', () => {
  const errors = errorsOfChange(...KIND, { value: 1 }, { value: 2, preemptionPolicy: 'Never' })
  expect(errors).toContain('value: Forbidden: may not be changed in an update.')
  expect(errors).toContain('preemptionPolicy: Invalid value: "Never": field is immutable')
})

test('defaults and row', () => {
  const object = created(...KIND, { value: 7 })
  expect(object).toMatchObject({ metadata: { generation: 1 }, preemptionPolicy: 'PreemptLowerPriority' })
  const row = tableRowOf('scheduling.k8s.io/v1', 'priorityclasses')
  expect(row(object, 0)).toEqual(['x', 7, false, '<unknown>', 'PreemptLowerPriority'])
})
