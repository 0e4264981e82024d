import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { toCoreEvent, toModernEvent } from '../core/event-conversion.js'
import { errorsOf, errorsOfChange } from '../written-objects.suite.js'

const event: ValueObject = {
  eventTime: '2020-01-01T00:00:00.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'c-1',
  action: 'Doing',
  reason: 'Done',
  type: 'Normal',
  regarding: { namespace: 'default' },
}

test.each<[ValueObject, string[]]>([
  [{}, []],
  [{ eventTime: null }, ['eventTime: Required value']],
  [{ action: '' }, ['action: Required value']],
  [{ type: 'Odd' }, ['type: Invalid value: "": has invalid value: Odd']],
  [{ note: 'n'.repeat(1025) }, ['message: Invalid value: "": can have at most 1024 characters']],
  [
    { series: { count: 1, lastObservedTime: null } },
    ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
  ],
  [{ deprecatedCount: 3 }, ['count: Invalid value: "": needs to be unset']],
])('an event of events.k8s.io (%#)', (fields, errors) => {
  expect(errorsOf('events.k8s.io/v1', 'Event', { ...event, ...fields })).toEqual(errors)
})

test('only the series of an event changes', () => {
  const series = { series: { count: 2, lastObservedTime: '2020-01-01T00:00:01.000000Z' } }
  expect(errorsOfChange('events.k8s.io/v1', 'Event', event, series)).toEqual([])
  expect(errorsOfChange('events.k8s.io/v1', 'Event', event, { reason: 'Other' })).toEqual([
    'reason: Invalid value: "Other": field is immutable',
    'reason: Invalid value: "Other": field is immutable',
  ])
})

test.each<[ValueObject, string[]]>([
  [{}, []],
  [{ involvedObject: { kind: 'Node', name: 'n' } }, []],
  [
    { involvedObject: { namespace: 'other' } },
    ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
  ],
])('an event of the core group with %j', (fields, errors) => {
  expect(errorsOf('v1', 'Event', fields)).toEqual(errors)
})

test('the two groups have the same fields under different names', () => {
  const core = toCoreEvent({ apiVersion: 'events.k8s.io/v1', note: 'n', regarding: { kind: 'Pod' } })
  expect(core).toEqual({ apiVersion: 'v1', message: 'n', involvedObject: { kind: 'Pod' } })
  expect(toModernEvent(core)).toEqual({ apiVersion: 'events.k8s.io/v1', note: 'n', regarding: { kind: 'Pod' } })
})
