import { expect, test } from 'vitest'
import type { Value } from '../values/value.js'
import { checkDecodedBody, checkValueCount, countValues, MAX_VALUES } from './value-limit.js'

test.each<[Value, number]>([
  ['text', 0],
  [{ a: 1, b: { c: null } }, 3],
  [[{}, null, []], 3],
  [[1, 'a', true, 2], 2],
  [{ list: [{ a: [1, 2] }] }, 4],
])('%j has %d values', (value, count) => {
  expect(countValues(value)).toBe(count)
})

test('counting ends at the limit', () => {
  expect(
    countValues(
      Array.from({ length: 100 }, () => [{}, {}]),
      10,
    ),
  ).toBeLessThan(120)
})

test('one value more than allowed is too many', () => {
  const items = Array.from({ length: MAX_VALUES }, () => ({}))
  expect(() => checkValueCount(items)).not.toThrow()
  items.push({})
  expect(() => checkValueCount(items)).toThrow(`the object has more than ${MAX_VALUES} fields and list items`)
  expect(() => checkDecodedBody(items, 100)).not.toThrow()
  expect(() => checkDecodedBody(items, MAX_VALUES + 1)).toThrow('Request entity too large')
})
