import { expect, it } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { webhookTokens } from './webhook-tokens.js'

function webhook(status: ValueObject | Error, ttlMs = 0) {
  const calls: ValueObject[] = []
  const clock = { now: 0 }
  const check = webhookTokens({
    async call(review) {
      calls.push(review)
      if (status instanceof Error) throw status
      return { ...review, status }
    },
    version: 'v1',
    ttlMs,
    ownAudiences: ['api'],
    now: () => clock.now,
  })
  return { calls, clock, check: async (token: string, audiences = ['api']) => check(token, audiences) }
}

const BOB = { authenticated: true, user: { username: 'bob', uid: '7', groups: ['team'], extra: { a: ['b'] } } }

it('authenticates the user that the webhook names', async () => {
  const { check, calls } = webhook(BOB)
  expect(await check('t')).toEqual({
    ok: true,
    identity: { name: 'bob', uid: '7', groups: ['team', 'system:authenticated'], extra: { a: ['b'] } },
    audiences: ['api'],
  })
  expect(calls[0]).toMatchObject({ kind: 'TokenReview', spec: { token: 't', audiences: ['api'] } })
})

it('accepts only audiences that are asked for', async () => {
  expect(await webhook({ ...BOB, audiences: ['other'] }).check('t')).toBeUndefined()
  expect(await webhook(BOB).check('t', ['other'])).toBeUndefined()
  expect(await webhook({ ...BOB, audiences: ['x', 'y'] }).check('t', ['y', 'z'])).toMatchObject({ audiences: ['y'] })
})

it('passes on the error of the webhook, and leaves unknown tokens to others', async () => {
  expect(await webhook({ authenticated: false }).check('t')).toBeUndefined()
  expect(await webhook({ authenticated: false, error: 'expired' }).check('t')).toEqual({ ok: false, error: 'expired' })
  expect(await webhook(new Error('down')).check('t')).toEqual({ ok: false, error: 'down' })
})

it('keeps answers for a while, for each token and its audiences, and no failures', async () => {
  const { check, calls, clock } = webhook(BOB, 1000)
  await Promise.all([check('t'), check('t')])
  await check('t')
  expect(calls).toHaveLength(1)
  await check('t', ['api', 'b'])
  await check('u')
  expect(calls).toHaveLength(3)
  clock.now = 1000
  await check('t')
  expect(calls).toHaveLength(4)
  const down = webhook(new Error('down'), 1000)
  await down.check('t')
  await down.check('t')
  expect(down.calls).toHaveLength(2)
})
