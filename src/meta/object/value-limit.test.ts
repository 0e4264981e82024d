import { expect, test } from 'vitest'
import type { Value } from '../values/value.js'
import { checkChange, checkDecodedBody, checkValueCount, countValues, MAX_VALUES } from './value-limit.js'

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

test('a change may make an object neither much larger than before nor longer than stores take', () => {
  const objects = (count: number) => Array.from({ length: count }, () => ({}))
  const [double, more] = [2 * MAX_VALUES, 2 * MAX_VALUES + 1000]
  expect(() => checkChange(objects(double), [])).not.toThrow()
  expect(() => checkChange(objects(more), objects(double))).not.toThrow()
  expect(() => checkChange(objects(more), objects(10))).toThrow('fields and list items')
  expect(() => checkChange(objects(more + 1), objects(double))).toThrow('fields and list items')
  const long = 'x'.repeat(1024 * 1024)
  expect(() => checkChange(Array(8).fill(long), [])).not.toThrow()
  expect(() => checkChange([...Array(8).fill(long), 'x'], [])).toThrow('of more than 8388608 characters')
})
