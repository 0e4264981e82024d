import { expect, test } from 'vitest'
import { durationOf } from './durations.js'

test.each([
  ['1h30m', 5_400_000],
  ['1.5s', 1_500],
  ['250ms', 250],
  ['1m1ms', 60_001],
  ['0', 0],
  ['never', Number.POSITIVE_INFINITY],
  ['', undefined],
  ['1', undefined],
  ['1h 1m', undefined],
  ['1..5s', undefined],
])('%j is %s milliseconds', (text, ms) => {
  expect(durationOf(text)).toBe(ms)
})

test('a long text is read in a time that grows with its length', () => {
  expect(durationOf('1'.repeat(1_000_000))).toBeUndefined()
})
