import { expect, test } from 'vitest'
import { limitAfter } from './page-limit.js'

const LIMITS = { entries: 500, bytes: 10_000 }
const entries = (...sizes: number[]) =>
  sizes.map((size, i) => ({ key: `/k/${i}`, value: Buffer.alloc(size), revision: i + 1 }))

test.each([
  ['as many as there may be of small ones', [1, 2, 3], 500],
  ['what has room, by their average', [50, 150], 100],
  ['never none', [20_000], 1],
])('%s', (_, sizes, limit) => {
  expect(limitAfter(entries(...sizes), LIMITS)).toBe(limit)
})
