import { expect, test } from 'vitest'
import { allOf, andThen, orElse } from './awaitable.js'

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

test('what fails, at once or later, is made something else of', async () => {
  const fail = () => {
    throw new Error('no')
  }
  expect(orElse<unknown>(() => 1, String)).toBe(1)
  expect(orElse<unknown>(fail, String)).toBe('Error: no')
  expect(await orElse<unknown>(async () => fail(), String)).toBe('Error: no')
})

test('all are there at once unless one is not', async () => {
  const all = [1, 2]
  expect(allOf(all)).toBe(all)
  const waiting = allOf([1, Promise.resolve(2)])
  expect(waiting).toBeInstanceOf(Promise)
  expect(await waiting).toEqual([1, 2])
})
