import { expect, it } from 'vitest'
import { createExpiringCache } from './expiring-cache.js'

it('keeps an entry for its lifetime', () => {
  let time = 0
  const cache = createExpiringCache<number>(10, () => time)
  cache.put('a', 1, 100)
  cache.put('b', 2, 0)
  expect([cache.get('a'), cache.get('b')]).toEqual([1, undefined])
  time = 100
  expect(cache.get('a')).toBeUndefined()
})

it('drops the oldest entry when it is full', () => {
  const cache = createExpiringCache<number>(2, () => 0)
  for (const [i, key] of ['a', 'b', 'a', 'c'].entries()) cache.put(key, i, 100)
  expect(['a', 'b', 'c'].map(key => cache.get(key))).toEqual([2, undefined, 3])
})
