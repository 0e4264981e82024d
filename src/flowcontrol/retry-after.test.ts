import { expect, test } from 'vitest'
import { createRetryAfter } from './retry-after.js'

test('the time doubles while requests are rejected and falls when that stops', () => {
  const { rejected } = createRetryAfter()
  const second = (at: number, count: number): number =>
    Array.from({ length: count }, () => rejected('l', at * 1000)).at(-1)!
  expect([100, 101, 103, 107].map(at => second(at, 50))).toEqual([1, 2, 4, 8])
  expect(rejected('other', 107_000)).toBe(1)
  expect([200, 201, 202].map(at => second(at, 1))).toEqual([7, 6, 5])
})
