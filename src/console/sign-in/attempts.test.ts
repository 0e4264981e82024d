// When the answers to wrong codes and tokens are sent.
import { expect, test } from 'vitest'
import { createAttempts } from './attempts.js'

function setUp() {
  const delays: number[] = []
  const pending = new Set<() => void>()
  let time = 0
  const attempts = createAttempts(
    () => time,
    (ms, done) => {
      delays.push(ms)
      pending.add(done)
      return () => void pending.delete(done)
    },
  )
  return { attempts, delays, pending, pass: (ms: number) => void (time += ms) }
}

test('the delay grows with the wrong attempts of an address, up to a limit', async () => {
  const { attempts, delays } = setUp()
  for (let i = 0; i < 3; i++) await attempts.failed('a')
  expect(delays).toEqual([])
  for (let i = 0; i < 8; i++) void attempts.failed('a')
  expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  await attempts.failed('b')
  expect(delays).toHaveLength(8)
})

test('the wrong attempts of an address are forgotten after a minute without one', async () => {
  const { attempts, delays, pass } = setUp()
  for (let i = 0; i < 4; i++) void attempts.failed('a')
  pass(60_000)
  await attempts.failed('a')
  expect(delays).toEqual([100])
})

test('if too many answers wait, the oldest is sent', async () => {
  const { attempts, pending } = setUp()
  for (let i = 0; i < 3; i++) await attempts.failed('a')
  const first = attempts.failed('a')
  for (let i = 0; i < 200; i++) void attempts.failed('a')
  await first
  expect(pending.size).toBe(100)
})
