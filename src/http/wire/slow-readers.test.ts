import { expect, test } from 'vitest'
import { createSlowReaders } from './slow-readers.js'

const LIMITS = { maxHeld: 1000, maxHeldByConnection: 400, stallMs: 60, shortStallMs: 5 }

function world() {
  const clock = { now: 0 }
  const readers = createSlowReaders(LIMITS, () => clock.now)
  const cut: string[] = []
  const add = (name: string, state: { held: number; sent: number }) =>
    readers.add({ ...state, cut: () => void cut.push(name) })
  /** Looks at all of them after that time. */
  const pass = (ms: number) => {
    clock.now += Math.max(ms, 101)
    readers.grew(LIMITS.maxHeld + 1)
  }
  return { readers, cut, add, pass, clock }
}

test('a client that reads nothing for long is cut, one that has nothing to read is not', () => {
  const { cut, add, pass } = world()
  add('stands', { held: 1, sent: 5 })
  add('idle', { held: 0, sent: 5 })
  pass(0)
  expect(cut).toEqual(['stands'])
  pass(1000)
  expect(cut).toEqual(['stands'])
})

test('a client that reads is not cut, however much is held for it', () => {
  const { cut, readers, pass } = world()
  let sent = 0
  readers.add({
    held: 5000,
    get sent() {
      return sent++
    },
    cut: () => cut.push('reads'),
  })
  for (let i = 0; i < 5; i++) pass(1000)
  expect(cut).toEqual([])
  expect(readers.isFull).toBe(true)
})

test('a connection that has ended is no longer looked at, and nothing is held then', () => {
  const { cut, add, pass } = world()
  const remove = add('gone', { held: 5000, sent: 1 })
  remove()
  pass(1000)
  expect(cut).toEqual([])
})
