import { expect, test } from 'vitest'
import type { ApiObject } from '../../api/resource.js'
import { conditionLines, conditionsOf, isGood } from './conditions.js'

const at = (seconds: number): string => new Date(seconds * 1000).toISOString()

const object = (...conditions: [type: string, status: string, seconds: number][]): ApiObject => ({
  metadata: { name: 'a', creationTimestamp: at(0) },
  status: {
    conditions: conditions.map(([type, status, seconds]) => ({ type, status, lastTransitionTime: at(seconds) })),
  },
})

test('without revisions a condition lasts since its last transition', () => {
  const [line] = conditionLines(object(['Ready', 'True', 5]), [], 20_000)
  expect(line!.segments).toEqual([{ status: 'True', reason: '', from: 5000, to: 20_000 }])
})

test('revisions show the states before', () => {
  const now = object(['Ready', 'True', 9])
  const before = object(['Ready', 'False', 5])
  const first = object(['Ready', 'Unknown', 1])
  const [line] = conditionLines(now, [now, before, before, first], 20_000)
  expect(line!.segments.map(({ status, from, to }) => [status, from, to])).toEqual([
    ['Unknown', 1000, 5000],
    ['False', 5000, 9000],
    ['True', 9000, 20_000],
  ])
})

test('a status that is no list of conditions has none', () => {
  expect(conditionsOf({ metadata: { name: 'a' }, status: { conditions: 'x' } })).toEqual([])
  expect(conditionsOf({ metadata: { name: 'a' } })).toEqual([])
})

test.each([
  ['Ready', 'True', true],
  ['Ready', 'False', false],
  ['MemoryPressure', 'True', false],
  ['MemoryPressure', 'False', true],
  ['Ready', 'Unknown', undefined],
])('%s is %s', (type, status, good) => {
  expect(isGood({ type, status })).toBe(good)
})
