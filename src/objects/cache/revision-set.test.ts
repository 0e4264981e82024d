import { expect, test } from 'vitest'
import { createRevisionSet } from './revision-set.js'

test('what was added is there, and nothing else', () => {
  const set = createRevisionSet()
  const added = [1, 7, 8, 4095, 4096, 2 ** 40, Number.MAX_SAFE_INTEGER]
  for (const revision of added) set.add(revision)
  for (const revision of added) expect(set.has(revision)).toBe(true)
  for (const revision of [0, 2, 6, 9, 4094, 4097, 2 ** 40 + 1, 2 ** 40 - 4096]) expect(set.has(revision)).toBe(false)
})

test('what would take too much room is forgotten, the oldest first', () => {
  const set = createRevisionSet(2)
  for (const revision of [1, 5000, 10_000]) set.add(revision)
  expect([1, 5000, 10_000].map(revision => set.has(revision))).toEqual([false, true, true])
})
