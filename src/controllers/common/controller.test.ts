import { expect, test, vi } from 'vitest'
import { SYSTEM_CLOCK } from '../../base/clock.js'
import { createLogger, type LogLine } from '../../base/logger.js'
import { createMetrics } from '../../base/metrics.js'
import { createControllerQueue, retryDelay } from './controller.js'

test('delays double up to a limit, and vary by a fifth', () => {
  expect([1, 2, 3, 4].map(failures => retryDelay(failures, 0.5))).toEqual([20, 40, 80, 160])
  expect(retryDelay(100, 0.5)).toBe(30_000)
  expect([retryDelay(1, 0), retryDelay(1, 1)]).toEqual([16, 24])
})

test('failures are retried, counted, and logged from the third in a row on', async () => {
  const lines: LogLine[] = []
  const metrics = createMetrics()
  const env = { log: createLogger(line => void lines.push(line)), metrics, clock: SYSTEM_CLOCK, random: () => 0.5 }
  let attempts = 0
  const queue = createControllerQueue('test', env, async () => {
    if (++attempts < 4) throw new Error(`attempt ${attempts}`)
  })
  queue.add('a/b')
  await vi.waitFor(() => expect(attempts).toBe(4))
  await queue.idle()
  queue.stop()
  expect(
    lines.map(({ level, fields }) => [level, fields['failures'], fields['retryMs'], String(fields['error'])]),
  ).toEqual([
    ['debug', 1, 20, 'Error: attempt 1'],
    ['debug', 2, 40, 'Error: attempt 2'],
    ['warn', 3, 80, 'Error: attempt 3'],
  ])
  expect(lines[2]).toMatchObject({ fields: { controller: 'test', key: 'a/b' } })
  const page = await metrics.print()
  expect(page).toMatch('workqueue_adds_total{name="test"} 4')
  expect(page).toMatch('workqueue_retries_total{name="test"} 3')
  expect(page).toMatch('workqueue_depth{name="test"} 0')
  expect(page).toMatch('workqueue_work_duration_seconds_count{name="test"} 4')
})
