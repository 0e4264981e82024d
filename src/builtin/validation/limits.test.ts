// Limit ranges, quotas, and the classes that pods name.
import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf } from '../written-objects.suite.js'

const told = (apiVersion: string, kind: string, object: ValueObject, namespaced = false): string[] =>
  validationOf(apiVersion, kind, namespaced)
    .create({ metadata: { name: 'x', ...(namespaced ? { namespace: 'n' } : {}) }, ...object })
    .map(printFieldError)

test.each<[string, ValueObject, string[]]>([
  ['system-node-critical', { value: 2_000_001_000 }, []],
  ['system-node-critical', { value: 5 }, ['value of system-node-critical PriorityClass must be 2000001000']],
  ['mine', { value: -5 }, []],
])('the priority class %s with %j', (name, fields, errors) => {
  const { create } = validationOf('scheduling.k8s.io/v1', 'PriorityClass', false)
  const found = create({ metadata: { name }, preemptionPolicy: 'Never', ...fields })
  expect(found.map(({ detail }) => detail.split('error: ')[1])).toEqual(errors)
})

test('a runtime class says where its pods run', () => {
  const tolerations = [
    { key: 'a', operator: 'Exists' },
    { key: 'a', operator: 'Exists' },
  ]
  const scheduling = { nodeSelector: { 'a b': 'c' }, tolerations }
  const overhead = { podFixed: { pods: '1' } }
  expect(
    told('node.k8s.io/v1', 'RuntimeClass', { handler: 'h', overhead, scheduling }).map(text => text.split(':')[0]),
  ).toEqual(['overhead.podFixed.limits[pods]', 'scheduling.nodeSelector', 'scheduling.tolerations[1]'])
})
