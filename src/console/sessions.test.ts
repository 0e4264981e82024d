import { expect, test } from 'vitest'
import { CODE_MS, createSessions, IDLE_MS, SESSION_MS } from './sessions.js'

const user = { name: 'alice', uid: '', groups: [], extra: {} }
const origin = 'https://127.0.0.1:6443'

function setUp() {
  const clock = { now: 0 }
  return { clock, sessions: createSessions(() => clock.now) }
}

test('a code is redeemed once', () => {
  const { sessions } = setUp()
  const code = sessions.createCode({ user })
  expect(sessions.redeemCode(code)).toEqual({ user })
  expect(sessions.redeemCode(code)).toBeUndefined()
  expect(sessions.redeemCode('guess')).toBeUndefined()
})

test('a code is valid for ten minutes', () => {
  const { clock, sessions } = setUp()
  const [first, second] = [sessions.createCode({ user }), sessions.createCode({ user })]
  clock.now = CODE_MS - 1
  expect(sessions.redeemCode(first)).toBeDefined()
  clock.now = CODE_MS
  expect(sessions.redeemCode(second)).toBeUndefined()
})

test('a session is found by its id, key and origin together', () => {
  const { sessions } = setUp()
  const { id, key } = sessions.open({ credential: { user }, user, origin })
  const other = sessions.open({ credential: { user }, user, origin })
  expect(sessions.find(id, key, origin)).toMatchObject({ user })
  expect(sessions.find(id, other.key, origin)).toBeUndefined()
  expect(sessions.find(other.id, key, origin)).toBeUndefined()
  expect(sessions.find(id, '', origin)).toBeUndefined()
  expect(sessions.find(id, key, 'https://127.0.0.1:6444')).toBeUndefined()
  sessions.close(id)
  expect(sessions.find(id, key, origin)).toBeUndefined()
  expect(sessions.find(other.id, other.key, origin)).toBeDefined()
})

test('a session that is not used ends, and one that is used ends after a week', () => {
  const { clock, sessions } = setUp()
  const idle = sessions.open({ credential: { user }, user, origin })
  const used = sessions.open({ credential: { user }, user, origin })
  const find = ({ id, key }: typeof idle) => sessions.find(id, key, origin)
  for (clock.now = 0; clock.now < SESSION_MS; clock.now += IDLE_MS / 2) expect(find(used)).toBeDefined()
  expect([find(idle), find(used)]).toEqual([undefined, undefined])
})

test('a user who signs in very often ends the own oldest sessions only', () => {
  const { sessions } = setUp()
  const admin = { ...user, name: 'admin' }
  const kept = sessions.open({ credential: { user: admin }, user: admin, origin })
  const own = Array.from({ length: 30 }, () => sessions.open({ credential: { user }, user, origin }))
  const isOpen = ({ id, key }: typeof kept) => sessions.find(id, key, origin) !== undefined
  expect(isOpen(kept)).toBe(true)
  expect(own.filter(isOpen)).toHaveLength(20)
})

test('the number of codes and of sessions of all users is bounded', () => {
  const { sessions } = setUp()
  const codes = Array.from({ length: 200 }, (_, i) => sessions.createCode({ user: { ...user, name: `user-${i}` } }))
  expect(codes.filter(code => sessions.redeemCode(code))).toHaveLength(100)
  const opened = Array.from({ length: 1100 }, (_, i) => {
    const each = { ...user, name: `user-${i}` }
    return sessions.open({ credential: { user: each }, user: each, origin })
  })
  expect(opened.filter(({ id, key }) => sessions.find(id, key, origin))).toHaveLength(1000)
})

test('a user who asks for many codes ends codes of their own, not those of others', () => {
  const { sessions } = setUp()
  const other = sessions.createCode({ user: { ...user, name: 'admin' } })
  const codes = Array.from({ length: 200 }, () => sessions.createCode({ user }))
  expect(sessions.redeemCode(other)).toBeDefined()
  expect(codes.filter(code => sessions.redeemCode(code))).toHaveLength(10)
})
