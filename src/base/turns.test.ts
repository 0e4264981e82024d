import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { nextTurn, startTurns } from './turns.js'

test('in a round of the event loop one work goes on, however much waits', async () => {
  let steps = 0
  const work = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await nextTurn()
      steps++
    }
  }
  const all = Promise.all(Array.from({ length: 20 }, work))
  let before = 0
  let most = 0
  // There are as many turns in all.
  for (let round = 0; round < 60; round++) {
    await nextRound()
    most = Math.max(most, steps - before)
    before = steps
  }
  await all
  expect(most).toBeLessThanOrEqual(2)
})

test('work goes on in the order in which it began to wait', async () => {
  const order: string[] = []
  const work = async (name: string): Promise<void> => {
    for (let i = 0; i < 2; i++) {
      await nextTurn()
      order.push(name)
    }
  }
  await Promise.all(['a', 'b', 'c'].map(work))
  expect(order.join('')).toBe('abcabc')
})

test('a turn is due sooner while other work waits', async () => {
  const busyFor = (ms: number): void => {
    const end = performance.now() + ms
    while (performance.now() < end);
  }
  const turns = startTurns(10_000)
  busyFor(2)
  expect(turns.isDue()).toBe(false)
  const others = Promise.all(Array.from({ length: 10_000 }, nextTurn))
  expect(turns.isDue()).toBe(true)
  await others
  expect(turns.isDue()).toBe(false)
})
