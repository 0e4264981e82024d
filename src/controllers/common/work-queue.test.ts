import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createWorkQueue } from './work-queue.js'

const HOOKS = { retryAfter: () => 1 }

test('work that adds work without end leaves turns of the event loop to others', async () => {
  const other: Record<string, string> = { one: 'two', two: 'one' }
  let done = 0
  const queue = createWorkQueue(async name => {
    if (++done < 10_000) queue.add(other[name]!)
  }, HOOKS)
  queue.add('one')
  queue.add('two')
  for (let i = 0; i < 3; i++) await turn()
  queue.stop()
  expect(done).toBeGreaterThan(0)
  expect(done).toBeLessThan(10_000)
})

test('a key that is added while it is worked on is worked on once more, never twice at once', async () => {
  const order: string[] = []
  const queue = createWorkQueue(async name => {
    order.push('begin')
    if (order.length === 1) {
      queue.add(name)
      queue.add(name)
    }
    await turn()
    order.push('end')
  }, HOOKS)
  queue.add('one')
  await queue.idle()
  expect(order).toEqual(['begin', 'end', 'begin', 'end'])
})

test('a limited number of keys is worked on at once', async () => {
  let active = 0
  let most = 0
  const queue = createWorkQueue(
    async () => {
      most = Math.max(most, ++active)
      await turn()
      active--
    },
    HOOKS,
    3,
  )
  for (let i = 0; i < 10; i++) queue.add(`${i}`)
  await queue.idle()
  expect(most).toBe(3)
})
