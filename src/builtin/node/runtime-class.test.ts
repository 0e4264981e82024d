import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { errorsOfChange, validationOf } from '../written-objects.suite.js'

const KIND = ['node.k8s.io/v1', 'RuntimeClass'] as const
const fieldsOf = (object: ValueObject): string[] =>
  validationOf(...KIND, false)
    .create({ metadata: { name: 'x' }, ...object })
    .map(({ field }) => field)

test('resources, node labels and tolerations are checked', () => {
  const tolerations = [
    { key: 'a', operator: 'Exists' },
    { key: 'a', operator: 'Exists', tolerationSeconds: 5, effect: '' },
  ]
  const scheduling = { nodeSelector: { 'a b': 'c' }, tolerations }
  const overhead = { podFixed: { pods: '1' } }
  expect(fieldsOf({ handler: 'h', overhead, scheduling })).toEqual([
    'overhead.limits[pods]',
    'scheduling.nodeSelector',
    'scheduling.tolerations[1].effect',
    'scheduling.tolerations[1]',
  ])
})

test('a handler is required and stays', () => {
  expect(fieldsOf({})).toEqual(['handler'])
  expect(errorsOfChange(...KIND, { handler: 'h' }, { handler: 'i' })).toContain(
    'handler: Invalid value: "i": field is immutable',
  )
})
