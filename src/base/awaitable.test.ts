import { expect, test } from 'vitest'
import { allOf, andThen, orElse } from './awaitable.js'

test('a known value is passed on synchronously', () => {
  expect(andThen(1, one => one + 1)).toBe(2)
  expect(() =>
    andThen(1, () => {
      throw new Error('at once')
    }),
  ).toThrow('at once')
})

test('a promise on either side gives a promise', async () => {
  expect(await andThen(Promise.resolve(1), one => one + 1)).toBe(2)
  expect(await andThen(1, async one => one + 1)).toBe(2)
  await expect(andThen(Promise.reject<number>(new Error('later')), one => one)).rejects.toThrow('later')
})

test('a failure, thrown or rejected, is replaced', async () => {
  const fail = () => {
    throw new Error('no')
  }
  expect(orElse<unknown>(() => 1, String)).toBe(1)
  expect(orElse<unknown>(fail, String)).toBe('Error: no')
  expect(await orElse<unknown>(async () => fail(), String)).toBe('Error: no')
})

test('a list without promises is returned as it is, any other is awaited', async () => {
  const all = [1, 2]
  expect(allOf(all)).toBe(all)
  const waiting = allOf([1, Promise.resolve(2)])
  expect(waiting).toBeInstanceOf(Promise)
  expect(await waiting).toEqual([1, 2])
})
