import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { created, errorsOf, errorsOfChange, tableRowOf, warningsFor } from '../written-objects.suite.js'

const jobTemplate = {
  spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } },
}
const cronJob = (spec: ValueObject = {}): ValueObject => ({ spec: { schedule: '@daily', jobTemplate, ...spec } })

test.each<[ValueObject, string[]]>([
  [{ timeZone: 'Europe/Berlin' }, []],
  [{ schedule: '' }, ['spec.schedule: Required value']],
  [
    { schedule: 'TZ=UTC 0 0 * * *' },
    [
      'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ],
  [
    { timeZone: 'Nowhere/At-All' },
    ['spec.timeZone: Invalid value: "Nowhere/At-All": unknown time zone Nowhere/At-All'],
  ],
  [{ timeZone: '' }, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']],
  [
    { concurrencyPolicy: 'Odd' },
    ['spec.concurrencyPolicy: Unsupported value: "Odd": supported values: "Allow", "Forbid", "Replace"'],
  ],
  [
    { jobTemplate: { spec: { ...jobTemplate.spec, manualSelector: true, selector: { matchLabels: { a: 'b' } } } } },
    [
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ],
  ],
])('a cron job with %j', (spec, errors) => {
  expect(errorsOf('batch/v1', 'CronJob', cronJob(spec))).toEqual(errors)
})

test('a new name leaves room for the time; a stored one stays', () => {
  const long = { ...cronJob(), metadata: { name: 'n'.repeat(53) } }
  expect(errorsOf('batch/v1', 'CronJob', long)).toEqual([expect.stringContaining('must be no more than 52 characters')])
  expect(errorsOfChange('batch/v1', 'CronJob', long, { spec: { suspend: true } })).toEqual([])
})

test('a stored schedule with a time zone stays, with a warning', () => {
  const old = created('batch/v1', 'CronJob', cronJob({ schedule: 'TZ=UTC 0 0 * * *' }))
  expect(errorsOfChange('batch/v1', 'CronJob', old, { spec: { suspend: true } })).toEqual([])
  expect(warningsFor('batch/v1', 'CronJob', old, old)).toEqual([
    expect.stringContaining('cannot use TZ or CRON_TZ in spec.spec.schedule'),
  ])
})

test('a condition of a failure policy is true by default', () => {
  const podFailurePolicy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] }
  const spec = { ...jobTemplate.spec, podFailurePolicy }
  expect(created('batch/v1', 'CronJob', cronJob({ jobTemplate: { spec } }))).toMatchObject({
    spec: { jobTemplate: { spec: { podFailurePolicy: { rules: [{ onPodConditions: [{ status: 'True' }] }] } } } },
  })
})

test('the row of a cron job', () => {
  const row = tableRowOf('batch/v1', 'cronjobs')(created('batch/v1', 'CronJob', cronJob()), 0)
  expect(row).toEqual(['x', '@daily', '<none>', 'False', 0, '<none>', '<unknown>', 'c', 'i', '<none>'])
})
