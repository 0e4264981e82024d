import { stat } from 'node:fs'
import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eachInTurns, inTurns, nextTurn, startTurns, startTurnsOf } from './turns.js'

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

test('work that begins to wait while a socket or a file is read goes on after others that are due', async () => {
  const order = await new Promise<string[]>(resolve => {
    const seen: string[] = []
    stat('.', () => {
      setTimeout(() => seen.push('timer'), 1)
      void nextTurn().then(() => resolve([...seen, 'work']))
      workLong()
    })
  })
  expect(order).toEqual(['timer', 'work'])
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

/** Longer than a turn. */
function workLong(): void {
  const end = performance.now() + 15
  while (performance.now() < end);
}

test('short work is done at once, without a promise', () => {
  const done: number[] = []
  expect(eachInTurns([1, 2], item => void done.push(item), startTurns())).toBeUndefined()
  expect(done).toEqual([1, 2])
})

test('others get a turn after long work', async () => {
  const seen: string[] = []
  setImmediate(() => seen.push('another'))
  await eachInTurns(
    ['a', 'b'],
    item => {
      workLong()
      seen.push(item)
    },
    startTurns(),
  )
  expect(seen).toEqual(['a', 'another', 'b'])
})

test('short steps are carried out at once, without a promise, and long ones in turns', async () => {
  function* work(step: () => void): Generator<undefined, string> {
    step()
    yield
    return 'done'
  }
  expect(inTurns(work(() => {}))).toBe('done')
  const seen: string[] = []
  setImmediate(() => seen.push('another'))
  seen.push(await inTurns(work(workLong)))
  expect(seen).toEqual(['another', 'done'])
})

test('work that is not wanted any more ends between turns', async () => {
  const cancellation = { signal: new AbortController().signal, aborted: undefined as Error | undefined }
  let count = 0
  const finished = eachInTurns(
    [1, 2, 3],
    () => {
      count++
      workLong()
      cancellation.aborted = new Error('too late')
    },
    startTurnsOf(cancellation),
  )
  await expect(finished).rejects.toThrow('too late')
  expect(count).toBe(1)
})
