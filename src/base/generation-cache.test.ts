import { expect, test } from 'vitest'
import { createGenerationCache } from './generation-cache.js'

test('entries that are used again stay, others are dropped after two generations', () => {
  const cache = createGenerationCache<number, string>({ maxWeight: 5 })
  cache.set(0, 'used')
  for (let i = 1; i <= 100; i++) {
    cache.set(i, `${i}`)
    expect(cache.get(0)).toBe('used')
  }
  const found = Array.from({ length: 100 }, (_, i) => cache.get(i + 1)).filter(each => each !== undefined)
  expect(found.length).toBeGreaterThan(2)
  expect(found.length).toBeLessThanOrEqual(10)
})

test('weights count, and the end of a generation is reported', () => {
  let turns = 0
  const cache = createGenerationCache<string, string>({
    maxWeight: 10,
    weigh: text => text.length,
    onTurn: () => void turns++,
  })
  cache.set('a', 'x'.repeat(6))
  cache.set('b', 'x'.repeat(6))
  expect(turns).toBe(1)
  expect(cache.get('a')).toHaveLength(6)
  expect(turns).toBe(2)
  cache.set('a', 'y')
  expect(cache.get('a')).toBe('y')
  expect(turns).toBe(2)
})
