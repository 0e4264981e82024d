import { expect, test } from 'vitest'
import type { StoreEvent } from '../store.js'
import { createPrefixCounts } from './prefix-counts.js'

const value = Buffer.from('x')
const created = (key: string, revision: number): StoreEvent => ({ key, revision, value, previous: undefined })
const updated = (key: string, revision: number): StoreEvent => ({
  ...created(key, revision),
  previous: { key, value, revision: 1 },
})
const deleted = (key: string, revision: number): StoreEvent => ({ ...updated(key, revision), value: undefined })

test('a counted prefix is cached, and writes update its count', async () => {
  const counts = createPrefixCounts()
  expect(counts.recall('/a/', undefined, 5, true)).toBeUndefined()
  expect(await counts.count('/a/', 5, true, async () => 10)).toBe(10)
  expect(counts.recall('/a/', undefined, 5, true)).toBe(10)
  counts.committed([
    created('/a/b/c', 6),
    updated('/a/d', 7),
    created('/b/x', 8),
    deleted('/a/d', 9),
    created('/a/e', 10),
  ])
  expect(counts.recall('/a/', undefined, 10, true)).toBe(11)
  expect(counts.recall('/a/b/', undefined, 10, true)).toBeUndefined()
  expect(counts.recall('/a/', undefined, 9, false)).toBeUndefined()
})

test('writes during a count are included', async () => {
  const counts = createPrefixCounts()
  let finish!: (total: number) => void
  const walk = new Promise<number>(resolve => {
    finish = resolve
  })
  const total = counts.count('/a/', 5, true, () => walk)
  const shared = counts.count('/a/', 5, true, () => Promise.reject(new Error('it is being counted already')))
  counts.committed([created('/a/new', 6)])
  const later = counts.count('/a/', 6, true, async () => 11)
  finish(10)
  expect(await Promise.all([total, shared, later])).toEqual([10, 10, 11])
  expect(counts.recall('/a/', undefined, 6, true)).toBe(11)
})

test('a failed count is not cached', async () => {
  const counts = createPrefixCounts()
  await expect(counts.count('/a/', 5, true, () => Promise.reject(new Error('closed')))).rejects.toThrow('closed')
  expect(await counts.count('/a/', 5, true, async () => 3)).toBe(3)
})

test('the number that remained after a page is cached by prefix, key and revision', () => {
  const counts = createPrefixCounts()
  counts.remember('/a/', '/a/b/c', 5, 7)
  expect(counts.recall('/a/', '/a/b/c', 5, false)).toBe(7)
  expect(counts.recall('/a/b/', '/a/b/c', 5, false)).toBeUndefined()
  expect(counts.recall('/a/', '/a/b/c', 6, false)).toBeUndefined()
  expect(counts.recall('/a/', '/a/b/d', 5, false)).toBeUndefined()
})

test('the number of cached pages is bounded', () => {
  const counts = createPrefixCounts()
  for (let i = 0; i <= 10_000; i++) {
    counts.remember('/a/', `/a/${i}`, 5, i)
    counts.recall('/a/', '/a/1', 5, false)
  }
  expect(counts.recall('/a/', '/a/0', 5, false)).toBeUndefined()
  expect(counts.recall('/a/', '/a/1', 5, false)).toBe(1)
  expect(counts.recall('/a/', '/a/10000', 5, false)).toBe(10_000)
})
