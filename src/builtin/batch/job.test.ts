import { describe, expect, test } from 'vitest'
import { objectAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import {
  created,
  errorsOf,
  errorsOfChange,
  selectableFieldsOf,
  tableRowOf,
  warningsFor,
} from '../written-objects.suite.js'

const template: ValueObject = {
  spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' },
}
const job = (spec: ValueObject = {}): ValueObject => ({ spec: { template, ...spec } })
const errors = (spec: ValueObject): string[] => errorsOf('batch/v1', 'Job', job(spec))
const errorsOfPatch = (spec: ValueObject, patch: ValueObject): string[] =>
  errorsOfChange('batch/v1', 'Job', job(spec), patch)

describe('defaults', () => {
  test('labels and a selector are derived from uid and name', () => {
    expect(created('batch/v1', 'Job', job())).toMatchObject({
      spec: {
        completions: 1,
        parallelism: 1,
        backoffLimit: 6,
        completionMode: 'NonIndexed',
        podReplacementPolicy: 'TerminatingOrFailed',
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
        template: { metadata: { labels: { 'job-name': 'x', 'batch.kubernetes.io/job-name': 'x' } } },
      },
    })
  })

  test('labels that come from the template are one map with those of the template', () => {
    const labelled = job({ template: { ...template, metadata: { labels: { a: 'b' } } } })
    const labelsOf = (object: ValueObject): ValueObject => objectAt(objectAt(object, 'metadata'), 'labels')
    expect(labelsOf(created('batch/v1', 'Job', labelled))).toMatchObject({ a: 'b', 'job-name': 'x' })
    const own = { ...labelled, metadata: { labels: { a: 'b' } } }
    expect(labelsOf(created('batch/v1', 'Job', own))).toEqual({ a: 'b' })
  })

  test('a condition of a failure policy is true by default', () => {
    const podFailurePolicy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] }
    expect(objectAt(created('batch/v1', 'Job', job({ podFailurePolicy })), 'spec')).toMatchObject({
      podFailurePolicy: { rules: [{ onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
      podReplacementPolicy: 'Failed',
    })
  })
})

describe('the spec', () => {
  test.each<[string, ValueObject, string[]]>([
    ['nothing special', {}, []],
    [
      'indexes without completions',
      { completionMode: 'Indexed', parallelism: 100_001 },
      [
        'spec.completions: Required value: when completion mode is Indexed',
        'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
      ],
    ],
    [
      'limits for indexes without indexes',
      { backoffLimitPerIndex: 1 },
      ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'],
    ],
    [
      'a controller that is no domain and path',
      { managedBy: 'me' },
      ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'pods that always restart',
      { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'a failure policy with mistakes',
      {
        podFailurePolicy: {
          rules: [
            { action: 'FailIndex', onExitCodes: { containerName: 'd', operator: 'In', values: [3, 0, 3] } },
            { action: 'Odd' },
          ],
        },
      },
      [
        'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
        'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "d": must be one of the container or initContainer names in the pod template',
        'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
        'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 3',
        'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0,3]: must be ordered',
        'spec.podFailurePolicy.rules[1].action: Unsupported value: "Odd": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
        'spec.podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
      ],
    ],
    [
      'a success policy without indexes',
      { successPolicy: { rules: [{ succeededCount: 1 }] } },
      [
        'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode',
      ],
    ],
    [
      'a success policy with mistakes',
      {
        completionMode: 'Indexed',
        completions: 3,
        successPolicy: { rules: [{}, { succeededIndexes: '0-1', succeededCount: 4 }, { succeededIndexes: '2,1' }] },
      },
      [
        'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
        'spec.successPolicy.rules[1].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions)',
        'spec.successPolicy.rules[1].succeededCount: Invalid value: 4: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
        'spec.successPolicy.rules[2].succeededIndexes: Invalid value: "2,1": error parsing succeededIndexes: non-increasing order, previous: 2, current: 1',
      ],
    ],
  ])('%s', (_, spec, expected) => expect(errors(spec)).toEqual(expected))

  test('hostnames of pods with indexes are DNS labels', () => {
    const metadata = { name: 'n'.repeat(62) }
    const indexed = { ...job({ completionMode: 'Indexed', completions: 11 }), metadata }
    expect(errorsOf('batch/v1', 'Job', indexed).at(-1)).toContain('will not able to create pod with invalid DNS label')
  })

  test('a selector that the server did not generate needs manualSelector', () => {
    expect(errors({ selector: { matchLabels: { a: 'b' } } })).toEqual([
      'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"u"}}: `selector` not auto-generated',
      expect.stringContaining('`selector` does not match template `labels`'),
    ])
  })
})

describe('changes', () => {
  test('a job with indexes changes completions and parallelism together', () => {
    const indexed = { completionMode: 'Indexed', completions: 2, parallelism: 2 }
    expect(errorsOfPatch(indexed, { spec: { completions: 3, parallelism: 3 } })).toEqual([])
    expect(errorsOfPatch(indexed, { spec: { completions: 3 } })).toEqual([
      'spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism',
    ])
  })

  test('the template of a running job is immutable', () => {
    const [error, ...more] = errorsOfPatch({}, { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } })
    expect(error).toMatch(/^spec\.template: Invalid value: \{"labels":.*field is immutable$/)
    expect(more).toEqual([])
  })

  test.each<[string, ValueObject, string | undefined]>([
    ['placed otherwise', { spec: { nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }] } }, undefined],
    ['labelled otherwise', { metadata: { labels: { more: 'yes' } } }, undefined],
    [
      'given other resources',
      { spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] } },
      undefined,
    ],
    ['made of another image', { spec: { containers: [{ name: 'c', image: 'j' }] } }, 'spec.template.spec'],
  ])('the pods of a suspended job may be %s', (_, patch, field) => {
    const found = errorsOfPatch({ suspend: true }, { spec: { template: patch } })
    expect(found.map(error => error.split(':')[0])).toEqual(field === undefined ? [] : [field])
  })
})

describe('the status', () => {
  const time = '2020-01-01T00:00:00Z'
  const conditions = (...types: string[]): ValueObject[] => types.map(type => ({ type, status: 'True' }))
  const ofStatus = (status: ValueObject, spec: ValueObject = {}): string[] =>
    errorsOfChange('batch/v1', 'Job', job(spec), { status }, 'status')

  test.each<[string, ValueObject, string[]]>([
    [
      'of a job that is complete',
      { startTime: time, completionTime: time, conditions: conditions('SuccessCriteriaMet', 'Complete') },
      [],
    ],
    [
      'without the steps before',
      { conditions: conditions('Complete'), active: 1 },
      [
        'status.completionTime: Required value: completionTime is required for Complete jobs',
        'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
        'status.active: Invalid value: 1: active>0 is invalid for finished job',
        'status.startTime: Required value: startTime is required for finished job',
      ],
    ],
    [
      'with indexes although the job has none',
      { completedIndexes: '0' },
      [
        'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
      ],
    ],
    [
      'with more ready than active pods',
      { ready: 2, active: 1 },
      ['status.ready: Invalid value: 2: cannot set more ready pods than active'],
    ],
    [
      'with pods that are counted twice',
      { uncountedTerminatedPods: { succeeded: ['a'], failed: ['a'] } },
      ['status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"'],
    ],
  ])('%s', (_, status, expected) => expect(ofStatus(status)).toEqual(expected))

  test('an index is either completed or failed', () => {
    const spec = { completionMode: 'Indexed', completions: 4, backoffLimitPerIndex: 1 }
    expect(ofStatus({ completedIndexes: '0-2', failedIndexes: '2,3' }, spec)).toEqual([
      'status.failedIndexes: Invalid value: "2,3": failedIndexes and completedIndexes overlap at index: 2',
    ])
  })
})

test('a job with very many indexes is warned of', () => {
  const indexed = job({ completionMode: 'Indexed', completions: 100_001, parallelism: 10_001 })
  expect(warningsFor('batch/v1', 'Job', created('batch/v1', 'Job', indexed))).toEqual([
    expect.stringMatching(/^spec: In Indexed Jobs with a number of completions higher than 10\^5/),
  ])
})

test('the row of a job', () => {
  const object = created('batch/v1', 'Job', job({ completions: 3 }))
  const row = tableRowOf('batch/v1', 'jobs')(object, Date.parse('2020-01-01T00:05:30Z'))
  expect(row).toEqual(['x', 'Running', '0/3', '', '<unknown>', 'c', 'i', 'batch.kubernetes.io/controller-uid=u'])
})

test('fields for selectors', () => {
  const { support } = selectableFieldsOf('batch/v1', 'Job')
  expect(support('status.successful', '1').ok).toBe(true)
  expect(support('spec.nonsense', 'x')).toEqual({
    ok: false,
    error: 'field label "spec.nonsense" not supported for Job',
  })
})
