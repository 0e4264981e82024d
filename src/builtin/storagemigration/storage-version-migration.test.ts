import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { errorsOfChange } from '../written-objects.suite.js'

const condition = (type: string, status = 'True'): ValueObject => ({
  type,
  status,
  reason: 'Tested',
  message: '',
  lastTransitionTime: '2020-01-01T00:00:00Z',
})

const refusals = (status: ValueObject): string[] =>
  errorsOfChange(
    'storagemigration.k8s.io/v1beta1',
    'StorageVersionMigration',
    { spec: { resource: { group: '', resource: 'secrets' } } },
    { status },
    'status',
  ).map(error => error.replace(/Invalid value: .*?\]: /, ''))

test.each<[string, ValueObject, string[]]>([
  ['has ended, as kube-controller-manager says it', { conditions: [condition('Running'), condition('Succeeded')] }, []],
  [
    'has ended in both ways',
    { conditions: [condition('Failed'), condition('Succeeded')] },
    ['status.conditions: Both success and failed conditions cannot be true at the same time'],
  ],
  ['has a resourceVersion', { resourceVersion: '12345678901234567890123' }, []],
  [
    'has another text',
    { resourceVersion: '012' },
    ['status.resourceVersion: Invalid value: "012": resource version is not well formed: 012'],
  ],
  [
    'has a negative one',
    { resourceVersion: '-1' },
    ['status.resourceVersion: Invalid value: "-1": resource version is not well formed: -1'],
  ],
])('a migration that %s', (_, status, errors) => expect(refusals(status)).toEqual(errors))
