import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { quietEnv } from './controller.js'
import { startIntervalController } from './interval-controller.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('work is done at once, and again an interval after it has succeeded', async () => {
  const work = vi.fn(async () => {})
  const controller = startIntervalController('test', quietEnv(), 10_000, work)
  await controller.idle()
  expect(work).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(9_999)
  expect(work).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(work).toHaveBeenCalledTimes(2)
  controller.stop()
})

test('work that fails is tried again before the interval has passed', async () => {
  const work = vi.fn(async () => {}).mockRejectedValueOnce(new Error('no'))
  const controller = startIntervalController('test', quietEnv(), 10_000, work)
  await vi.advanceTimersByTimeAsync(100)
  expect(work).toHaveBeenCalledTimes(2)
  controller.stop()
})

test('a controller that is stopped while it works leaves no timer', async () => {
  let finish = (): void => {}
  const working = new Promise<void>(resolve => void (finish = resolve))
  const controller = startIntervalController('test', quietEnv(), 10_000, () => working)
  await vi.advanceTimersByTimeAsync(0)
  controller.stop()
  finish()
  await vi.advanceTimersByTimeAsync(0)
  expect(vi.getTimerCount()).toBe(0)
})
