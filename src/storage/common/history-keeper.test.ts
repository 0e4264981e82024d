import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TimerClock } from '../../base/clock.js'
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

test('history follows a clock that is moved: what was written before is as old as the move, and later writes are kept', async () => {
  const store = createMemoryStore()
  const clock = createMovedClock()
  const keeper = keepHistory(store, 60_000, clock)
  const early = await write(store, '/a/1')
  const middle = await write(store, '/a/2')
  clock.move(30_000)
  expect(await store.get('/a/1', { exactly: early })).toBeDefined()
  const late = await write(store, '/a/3')
  clock.move(30_000)
  await expect(store.get('/a/1', { exactly: early })).rejects.toMatchObject({ code: 'compacted' })
  expect(await store.get('/a/2', { exactly: middle })).toBeDefined()
  clock.move(3_600_000)
  expect(await store.get('/a/3', { exactly: late })).toBeDefined()
  keeper.stop()
  expect(clock.isUnused()).toBe(true)
})

test('a clock that stands compacts nothing', async () => {
  const store = createMemoryStore()
  const early = await write(store, '/a/1')
  await write(store, '/a/2')
  const keeper = keepHistory(store, 60_000, createMovedClock())
  await vi.advanceTimersByTimeAsync(600_000)
  expect(await store.get('/a/1', { exactly: early })).toBeDefined()
  keeper.stop()
})

/** A clock that stands until it is moved. */
function createMovedClock() {
  let now = 0
  const timers = new Map<() => void, number>()
  const listeners = new Set<() => void>()
  const clock: TimerClock = {
    now: () => now,
    elapsed: () => now,
    after(milliseconds, run) {
      timers.set(run, now + milliseconds)
      return () => void timers.delete(run)
    },
    beforeMove(run) {
      listeners.add(run)
      return () => void listeners.delete(run)
    },
  }
  return {
    ...clock,
    move(milliseconds: number): void {
      for (const run of listeners) run()
      now += milliseconds
      const due = [...timers].filter(([, at]) => at <= now).map(([run]) => run)
      for (const run of due) timers.delete(run)
      for (const run of due) run()
    },
    isUnused: () => timers.size === 0 && listeners.size === 0,
  }
}
