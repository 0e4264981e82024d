import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { created, errorsOf, errorsOfChange, tableRowOf } from '../written-objects.suite.js'

const KIND = ['policy/v1', 'PodDisruptionBudget'] as const

test.each<[ValueObject, string[]]>([
  [{ minAvailable: '50%' }, []],
  [{ maxUnavailable: '101%' }, ['spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%']],
  [{ minAvailable: -1 }, ['spec.minAvailable: Invalid value: -1: must be greater than or equal to 0']],
  [
    { minAvailable: 1, maxUnavailable: 1 },
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  [
    { unhealthyPodEvictionPolicy: 'Odd' },
    ['spec.unhealthyPodEvictionPolicy: Unsupported value: "Odd": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ],
])('a budget with %j', (spec, errors) => expect(errorsOf(...KIND, { spec })).toEqual(errors))

test('counts of the status are not negative', () => {
  expect(errorsOfChange(...KIND, {}, { status: { currentHealthy: -1 } }, 'status')).toEqual([
    'status.currentHealthy: Invalid value: -1: must be greater than or equal to 0',
  ])
})

test('the row', () => {
  const row = tableRowOf('policy/v1', 'poddisruptionbudgets')
  expect(row(created(...KIND, { spec: { minAvailable: '50%' } }), 0)).toEqual(['x', '50%', 'N/A', 0, '<unknown>'])
})

test('a requirement by which v1beta1 and v1 tell empty selectors apart is dropped beside others', () => {
  const own = { key: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match', operator: 'Exists' }
  const other = { key: 'a', operator: 'Exists' }
  const selectorOf = (...matchExpressions: ValueObject[]): unknown =>
    (created(...KIND, { spec: { selector: { matchExpressions } } })['spec'] as ValueObject)['selector']
  expect(selectorOf(own)).toEqual({ matchExpressions: [own] })
  expect(selectorOf(own, other)).toEqual({ matchExpressions: [other] })
  expect(selectorOf({ ...own, operator: 'DoesNotExist' })).toEqual({})
})
