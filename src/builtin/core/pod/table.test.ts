import { describe, expect, test } from 'vitest'
import type { Value, ValueObject } from '../../../meta/values/value.js'
import { tableRowOf } from '../../written-objects.suite.js'
import { podRowConditions } from './table.js'

const now = Date.parse('2020-01-01T00:05:30Z')
const metadata = { creationTimestamp: '2020-01-01T00:00:00Z' }
describe('pods', () => {
  const row = (status: ValueObject, more: ValueObject = {}): Value[] =>
    tableRowOf('v1', 'pods')(
      {
        metadata: { name: 'x', ...metadata, ...more },
        spec: { containers: [{}, {}], initContainers: [{ name: 'i' }] },
        status,
      },
      now,
    ).slice(1, 4)

  test.each<[string, ValueObject, Value[]]>([
    ['waits', { phase: 'Pending' }, ['0/2', 'Pending', '0']],
    ['says why', { phase: 'Failed', reason: 'Evicted' }, ['0/2', 'Evicted', '0']],
    [
      'runs',
      {
        phase: 'Running',
        containerStatuses: [
          { ready: true, state: { running: {} } },
          { ready: true, state: { running: {} } },
        ],
      },
      ['2/2', 'Running', '0'],
    ],
    [
      'crashes',
      {
        phase: 'Running',
        containerStatuses: [
          {
            restartCount: 3,
            state: { waiting: { reason: 'CrashLoopBackOff' } },
            lastState: { terminated: { finishedAt: '2020-01-01T00:05:00Z' } },
          },
          { ready: true, state: { running: {} } },
        ],
      },
      ['1/2', 'CrashLoopBackOff', '3 (30s ago)'],
    ],
    [
      'has ended badly',
      { containerStatuses: [{ state: { terminated: { exitCode: 2 } } }] },
      ['0/2', 'ExitCode:2', '0'],
    ],
    [
      'is being prepared',
      { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { running: {} } }] },
      ['0/2', 'Init:0/1', '0'],
    ],
    [
      'cannot be prepared',
      { initContainerStatuses: [{ name: 'i', state: { terminated: { exitCode: 1, reason: 'Error' } } }] },
      ['0/2', 'Init:Error', '0'],
    ],
  ])('one that %s', (_what, status, expected) => {
    expect(row(status)).toEqual(expected)
  })

  test('one that is being deleted', () => {
    const deleted = { deletionTimestamp: metadata.creationTimestamp }
    expect(row({ phase: 'Running' }, deleted)[1]).toBe('Terminating')
    expect(row({ phase: 'Succeeded' }, deleted)[1]).toBe('Succeeded')
  })

  test('the row of one that has ended says so', () => {
    expect(podRowConditions({ status: { phase: 'Failed' } })).toEqual([
      { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
    ])
    expect(podRowConditions({ status: { phase: 'Running' } })).toEqual([])
  })
})
