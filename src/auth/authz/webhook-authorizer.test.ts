import { beforeEach, describe, expect, it } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { ALWAYS_ALLOW, type Decision, whenDecided } from './authorizer.js'
import { compileConditions } from './review-conditions.js'
import { unionAuthorizer } from './union.js'
import { createWebhookAuthorizer, type WebhookAuthorizerOptions } from './webhook-authorizer.js'

const bob = { name: 'bob', uid: '7', groups: ['team'], extra: { scopes: ['a'] } }
const pods = { verb: 'list', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'a', name: '' }

let time = 0
let calls: ValueObject[] = []
beforeEach(() => {
  time = 0
  calls = []
})

function webhook(status: ValueObject | Error, options: Partial<WebhookAuthorizerOptions> = {}) {
  return createWebhookAuthorizer({
    version: 'v1',
    authorizedTtlMs: 300_000,
    unauthorizedTtlMs: 30_000,
    failurePolicy: 'NoOpinion',
    conditions: [],
    now: () => time,
    async call(review) {
      calls.push(review)
      if (status instanceof Error) throw status
      return { ...review, status }
    },
    ...options,
  })
}

describe('a webhook', () => {
  it('is sent the user, the resource and the selectors of the request', async () => {
    const attributes = { ...pods, fieldSelector: 'spec.nodeName=n', labelSelector: 'app in (x,y),!old' }
    expect(await webhook({ allowed: true, reason: 'fine' }).authorize(bob, attributes)).toEqual({
      allowed: true,
      reason: 'fine',
    })
    expect(calls[0]!['spec']).toEqual({
      resourceAttributes: {
        namespace: 'a',
        verb: 'list',
        version: 'v1',
        resource: 'pods',
        fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }] },
        labelSelector: {
          requirements: [
            { key: 'app', operator: 'In', values: ['x', 'y'] },
            { key: 'old', operator: 'DoesNotExist' },
          ],
        },
      },
      user: 'bob',
      groups: ['team'],
      extra: { scopes: ['a'] },
      uid: '7',
    })
  })

  it('gets the groups in the field "group" in v1beta1', async () => {
    await webhook({ allowed: true }, { version: 'v1beta1' }).authorize(bob, { verb: 'get', path: '/metrics' })
    expect(calls[0]).toMatchObject({
      apiVersion: 'authorization.k8s.io/v1beta1',
      spec: { group: ['team'], nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    })
  })

  it('is not asked again while its answer is kept', async () => {
    const authorizer = webhook({ allowed: false, reason: 'no' })
    await authorizer.authorize(bob, pods)
    time = 29_999
    await authorizer.authorize(bob, pods)
    expect(calls).toHaveLength(1)
    time = 30_000
    await authorizer.authorize(bob, pods)
    expect(calls).toHaveLength(2)
  })

  it('is not asked about members of system:masters', async () => {
    const admin = { ...bob, groups: ['system:masters'] }
    expect(await webhook({ denied: true }).authorize(admin, pods)).toMatchObject({ allowed: true })
    expect(calls).toEqual([])
  })

  it('that denies decides for the authorizers after it; one without an opinion does not', async () => {
    const after = async (status: ValueObject): Promise<Decision> =>
      unionAuthorizer([webhook(status), ALWAYS_ALLOW]).authorize(bob, pods)
    expect(await after({ allowed: false, denied: true, reason: 'no' })).toEqual({
      allowed: false,
      denied: true,
      reason: 'no',
    })
    expect(await after({ allowed: true, denied: true })).toMatchObject({
      allowed: false,
      error: 'webhook subject access review returned both allow and deny response',
    })
    expect(await after({ allowed: false })).toMatchObject({ allowed: true })
  })

  it('that fails has no opinion, or denies if that is its failure policy', async () => {
    const down = new Error('connection refused')
    expect(await webhook(down).authorize(bob, pods)).toEqual({
      allowed: false,
      reason: '',
      error: 'connection refused',
    })
    const denying = webhook(down, { failurePolicy: 'Deny' })
    expect(await unionAuthorizer([denying, ALWAYS_ALLOW]).authorize(bob, pods)).toMatchObject({ denied: true })
  })
})

describe('match conditions', () => {
  const conditions = (...expressions: string[]) => {
    const compiled = compileConditions(expressions, 'matchConditions')
    expect(compiled.errors).toEqual([])
    return compiled.conditions
  }

  it('that are false skip the webhook', async () => {
    const authorizer = webhook(
      { denied: true },
      { conditions: conditions("request.user == 'alice'", 'has(request.x)'.replace('x', 'resourceAttributes')) },
    )
    expect(await authorizer.authorize(bob, pods)).toEqual({ allowed: false, reason: '' })
    expect(await authorizer.authorize({ ...bob, name: 'alice' }, pods)).toMatchObject({ denied: true })
    expect(calls).toHaveLength(1)
  })

  it('that fail are the failure of the webhook, unless another is false', async () => {
    const failing = "request.resourceAttributes.namespace == 'a'"
    const path = { verb: 'get', path: '/metrics' }
    const error = await webhook({}, { conditions: conditions(failing) }).authorize(bob, path)
    expect(error.error).toMatch(
      /^cel evaluation error: expression '.*' resulted in error: no such key: resourceAttributes/,
    )
    const skipped = webhook({}, { conditions: conditions(failing, "request.user == 'alice'") })
    expect(await skipped.authorize(bob, path)).toEqual({ allowed: false, reason: '' })
  })

  it('are checked when they are read', () => {
    const { errors } = compileConditions(['request.nme', 'request.user', ' ', 'true', 'true'], 'c')
    expect(errors.map(({ field, type }) => [field, type])).toEqual([
      ['c[0].expression', 'FieldValueInvalid'],
      ['c[1].expression', 'FieldValueInvalid'],
      ['c[2].expression', 'FieldValueRequired'],
      ['c[4].expression', 'FieldValueDuplicate'],
    ])
    expect(errors[1]!.detail).toBe('must evaluate to bool but got string')
  })
})

it('an expression that needs its decision is evaluated again when the webhook has answered', async () => {
  const authorizer = webhook({ allowed: true }, { authorizedTtlMs: 0 })
  const request = {}
  const evaluate = () =>
    authorizer.decideNow(bob, pods, request).allowed && authorizer.decideNow(bob, pods, request).allowed
  expect(await whenDecided(evaluate, undefined)).toBe(true)
  expect(calls).toHaveLength(1)
  const another = {}
  await whenDecided(() => authorizer.decideNow(bob, pods, another), undefined)
  expect(calls).toHaveLength(2)
})
