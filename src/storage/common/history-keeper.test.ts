import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryStore } from '../memory/memory-store.js'
import { StorageError } from '../storage-error.js'
import { keepHistory } from './history-keeper.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const write = async (store: ReturnType<typeof createMemoryStore>, key: string) => {
  const result = await store.create(key, Buffer.from('x'))
  return result.done ? result.revision : Number.NaN
}

test('history is kept for the given time, and then compacted', async () => {
  const store = createMemoryStore()
  const keeper = keepHistory(store, 60_000)
  const early = await write(store, '/a/1')
  await write(store, '/a/other')
  await vi.advanceTimersByTimeAsync(30_000)
  const middle = await write(store, '/a/2')
  await vi.advanceTimersByTimeAsync(29_000)
  expect(await store.get('/a/1', { exactly: early })).toBeDefined()

  await vi.advanceTimersByTimeAsync(30_000)
  await expect(store.get('/a/1', { exactly: early })).rejects.toMatchObject({ code: 'compacted' })
  expect(await store.get('/a/2', { exactly: middle })).toBeDefined()
  keeper.stop()
})

test('a jump of the time of day compacts nothing', async () => {
  const store = createMemoryStore()
  const keeper = keepHistory(store, 60_000)
  const early = await write(store, '/a/1')
  await write(store, '/a/2')
  await vi.advanceTimersByTimeAsync(7_000)
  vi.setSystemTime(Date.now() + 10 * 60_000)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await store.get('/a/1', { exactly: early })).toBeDefined()
  vi.setSystemTime(Date.now() - 60 * 60_000)
  await vi.advanceTimersByTimeAsync(60_000)
  await expect(store.get('/a/1', { exactly: early })).rejects.toMatchObject({ code: 'compacted' })
  keeper.stop()
})

test('a failed compaction is tried again', async () => {
  const store = createMemoryStore()
  const early = await write(store, '/a/1')
  await write(store, '/a/2')
  const compact = vi.spyOn(store, 'compact').mockRejectedValueOnce(new StorageError('no-space', 'full'))
  const keeper = keepHistory(store, 60_000)
  await vi.advanceTimersByTimeAsync(90_000)
  expect(compact.mock.calls.length).toBeGreaterThan(1)
  await expect(store.get('/a/1', { exactly: early })).rejects.toMatchObject({ code: 'compacted' })
  keeper.stop()
})

test('a stopped keeper does not compact', async () => {
  const store = createMemoryStore()
  const early = await write(store, '/a/1')
  await write(store, '/a/2')
  keepHistory(store, 60_000).stop()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(await store.get('/a/1', { exactly: early })).toBeDefined()
})
