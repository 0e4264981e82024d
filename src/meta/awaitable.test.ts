import { expect, test } from 'vitest'
import { andThen } from './awaitable.js'

test('what is there is gone on with at once', () => {
  expect(andThen(1, one => one + 1)).toBe(2)
  expect(() =>
    andThen(1, () => {
      throw new Error('at once')
    }),
  ).toThrow('at once')
})

test('what is not there yet is waited for, on either side', async () => {
  expect(await andThen(Promise.resolve(1), one => one + 1)).toBe(2)
  expect(await andThen(1, async one => one + 1)).toBe(2)
  await expect(andThen(Promise.reject<number>(new Error('later')), one => one)).rejects.toThrow('later')
})
