// Validation of limit ranges and quotas.
import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { created, validationOf } from '../written-objects.suite.js'

const errorsIn = (apiVersion: string, kind: string, object: ValueObject, namespaced = false): string[] =>
  validationOf(apiVersion, kind, namespaced)
    .create({ metadata: { name: 'x', ...(namespaced ? { namespace: 'n' } : {}) }, ...object })
    .map(printFieldError)

describe('a limit range', () => {
  const errors = (limit: ValueObject): string[] =>
    errorsIn('v1', 'LimitRange', { spec: { limits: [{ type: 'Container', ...limit }] } }, true)

  test.each<[ValueObject, string[]]>([
    [{ min: { cpu: '1' }, default: { cpu: '2' }, max: { cpu: '3' } }, []],
    [{ type: 'Odd' }, ['type: Invalid value: "Odd": must be a standard limit type or fully qualified']],
    [{ type: 'example.com/odd' }, []],
    [{ type: 'Pod', default: { cpu: '1' } }, ["default: Forbidden: may not be specified when `type` is 'Pod'"]],
    [{ max: { pods: '1' } }, ['max[pods]: Invalid value: "pods": must be a standard resource for containers']],
    [
      { min: { cpu: '2' }, max: { cpu: '1' } },
      ['min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
    ],
    [
      { default: { cpu: '1' }, defaultRequest: { cpu: '2' } },
      ['defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1'],
    ],
    [
      { min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } },
      ['maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000'],
    ],
    [
      { maxLimitRequestRatio: { cpu: '500m' } },
      ['maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
    ],
    [
      { type: 'PersistentVolumeClaim' },
      ['limits: Required value: either minimum or maximum storage value is required, but neither was provided'],
    ],
  ])('%j', (limit, expected) => {
    expect(errors(limit)).toEqual(expected.map(error => `spec.limits[0].${error}`))
  })

  test('has one limit for each type', () => {
    const limits = [{ type: 'Pod' }, { type: 'Pod' }]
    expect(errorsIn('v1', 'LimitRange', { spec: { limits } }, true)).toEqual([
      'spec.limits[1].type: Duplicate value: "Pod"',
    ])
  })

  test('has defaults for containers', () => {
    const limits = [{ type: 'Container', min: { memory: '1', cpu: '1' }, max: { cpu: '3' } }]
    expect(created('v1', 'LimitRange', { spec: { limits } })).toMatchObject({
      spec: { limits: [{ default: { cpu: '3' }, defaultRequest: { cpu: '3', memory: '1' } }] },
    })
  })
})

describe('a quota', () => {
  test.each<[ValueObject, string[]]>([
    [{ hard: { 'count/deployments.apps': '1', 'requests.hugepages-2Mi': '1', 'requests.example.com/gpu': '1' } }, []],
    [
      { hard: { 'count/deployments.apps': '1.5' } },
      ['spec.hard[count/deployments.apps]: Invalid value: "1500m": must be an integer'],
    ],
    [
      { hard: { cpu: '1' }, scopes: ['BestEffort'] },
      ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] } },
      [
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: 'BestEffort', operator: 'DoesNotExist' }] } },
      [
        expect.stringContaining(
          'spec.scopeSelector.matchExpressions.operator: Invalid value: "DoesNotExist": must be \'Exists\' when',
        ) as string,
      ],
    ],
    [
      {
        hard: { secrets: '1' },
        scopeSelector: { matchExpressions: [{ scopeName: 'Terminating', operator: 'Exists' }] },
      },
      [
        'spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"Terminating","Operator":"Exists","Values":null}]}: unsupported scope applied to resource',
      ],
    ],
  ])('%j', (spec, expected) => expect(errorsIn('v1', 'ResourceQuota', { spec }, true)).toEqual(expected))

  test('keeps its scopes, in any order', () => {
    const quota = (scopes: string[]): ValueObject => ({
      metadata: { name: 'x', resourceVersion: '1' },
      spec: { scopes },
    })
    const { update } = validationOf('v1', 'ResourceQuota', true)
    const old = quota(['BestEffort', 'Terminating'])
    expect(update(quota(['Terminating', 'BestEffort']), old)).toEqual([])
    expect(update(quota(['BestEffort']), old).map(({ field }) => field)).toEqual(['spec.scopes'])
  })
})
