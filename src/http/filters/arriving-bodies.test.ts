import { expect, test } from 'vitest'
import { createArrivingBodies } from './arriving-bodies.js'

const user = (name: string) => ({ name, uid: '', groups: [], extra: {} })
const limits = { maxBodies: 4, maxBodiesByUser: 2, maxBytes: 100, maxBytesByUser: 60 }

test('a user cannot take all places, and gets one again when a body has arrived', () => {
  const bodies = createArrivingBodies(limits)
  const first = bodies.enter(user('a'))
  bodies.enter(user('a'))
  expect(bodies.enter(user('a'))).toBeUndefined()
  expect(bodies.enter(user('b'))).toBeDefined()
  first!.leave()
  first!.leave()
  expect(bodies.count).toBe(2)
  expect(bodies.enter(user('a'))).toBeDefined()
})

test('all users together have a limit', () => {
  const bodies = createArrivingBodies(limits)
  for (const name of ['a', 'b', 'c', 'd']) expect(bodies.enter(user(name))).toBeDefined()
  expect(bodies.enter(user('e'))).toBeUndefined()
})

test('bytes are limited by user and for all, and are free again when the body is read or given up', () => {
  const bodies = createArrivingBodies(limits)
  const a = bodies.enter(user('a'))!
  const b = bodies.enter(user('b'))!
  expect(a.grow(60)).toBe(true)
  expect(a.grow(1)).toBe(false)
  expect(b.grow(39)).toBe(true)
  expect(b.grow(1)).toBe(false)
  a.leave()
  expect(b.grow(20)).toBe(true)
})
