import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTestClock, type TestClock } from './clock.js'

let clock: TestClock
let ran: string[]
const note = (name: string) => () => void ran.push(name)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  clock = createTestClock()
  ran = []
})
afterEach(() => vi.useRealTimers())

test('timers run in the order of their times when the clock is advanced past them', () => {
  clock.after(3000, note('third'))
  clock.after(1000, note('first'))
  clock.after(1000, note('second'))
  clock.after(10_000, note('later'))
  clock.advance('5s')
  expect(ran).toEqual(['first', 'second', 'third'])
})

test('a timer that is made by a timer and is due runs too', () => {
  clock.after(1000, () => clock.after(0, note('made')))
  clock.advance('1s')
  expect(ran).toEqual(['made'])
})

test('a cancelled timer does not run, also one of several at a time', () => {
  clock.after(1000, note('a'))
  const cancel = clock.after(1000, note('b'))
  clock.after(1000, note('c'))
  cancel()
  cancel()
  clock.advance('2s')
  expect(ran).toEqual(['a', 'c'])
})

test('timers run by themselves as the time passes, faster if it is scaled, and not while it is frozen', () => {
  clock.after(60_000, note('a minute'))
  vi.advanceTimersByTime(30_000)
  clock.freeze()
  vi.advanceTimersByTime(600_000)
  expect(ran).toEqual([])
  clock.run(60)
  vi.advanceTimersByTime(499)
  expect(ran).toEqual([])
  vi.advanceTimersByTime(2)
  expect(ran).toEqual(['a minute'])
})

test('a timer without a delay runs in the next turn, also on a frozen clock', () => {
  clock.freeze()
  clock.after(0, note('now'))
  expect(ran).toEqual([])
  vi.advanceTimersByTime(0)
  expect(ran).toEqual(['now'])
})

test('a copy has the same time and speed, and moves alone', () => {
  clock.after(60_000, note('of the first'))
  clock.advance('30s')
  clock.freeze()
  const copy = clock.copy()
  expect(copy.now()).toBe(clock.now())
  vi.advanceTimersByTime(1000)
  copy.advance('1h')
  expect([copy.now() - clock.now(), ran]).toEqual([3_600_000, []])
})

test.each([
  ['advance by more time than there is', () => clock.advance(1e300), 'the year 9999 is the last'],
  ['advance by endless days', () => clock.advance(`${'9'.repeat(400)}d`), 'the year 9999 is the last'],
  ['moveTo', () => clock.moveTo(new Date(8.64e15)), 'the year 9999 is the last'],
  ['run at any speed', () => clock.run(1e300), 'at most 1000000'],
])('the time stays one that the API can express: %s', (_what, act, message) => {
  expect(act).toThrow(message)
  expect(new Date(clock.now()).getFullYear()).toBeLessThan(2100)
})
