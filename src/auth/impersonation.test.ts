import { describe, expect, test } from 'vitest'
import { type AccessAttributes } from '../request/access-attributes.js'
import { type UserInfo } from '../request/user-info.js'
import type { Authorize } from './authz/authorizer.js'
import { createImpersonation } from './impersonation.js'

const alice: UserInfo = { name: 'alice', uid: 'u', groups: ['system:authenticated'], extra: {} }
const list: AccessAttributes = { verb: 'list', group: '', resource: 'pods', subresource: '', namespace: 'x', name: '' }

const print = (attributes: AccessAttributes): string =>
  'path' in attributes
    ? `${attributes.verb} ${attributes.path}`
    : `${attributes.verb} ${attributes.group}/${attributes.resource}${attributes.subresource && `/${attributes.subresource}`} ${attributes.name}`.trim()

/** Allows what is printed like this; everything if nothing is given. */
const allowing =
  (...allowed: readonly string[]): Authorize =>
  async (_, attributes) => ({ allowed: allowed.length === 0 || allowed.includes(print(attributes)), reason: '' })

const headers = (given: Record<string, string | string[]>): Map<string, string[]> =>
  new Map(Object.entries(given).map(([name, value]) => [name, [value].flat()]))

const as = async (given: Record<string, string | string[]>, authorize = allowing()): Promise<UserInfo | string> => {
  try {
    return (await createImpersonation(authorize)(alice, headers(given), list))?.user ?? alice
  } catch (error) {
    return (error as Error).message
  }
}

describe('the impersonated user', () => {
  test.each([
    [{ 'impersonate-user': 'carol' }, ['system:authenticated']],
    [{ 'impersonate-user': 'carol', 'impersonate-group': ['a', 'b'] }, ['a', 'b', 'system:authenticated']],
    [{ 'impersonate-user': 'carol', 'impersonate-group': 'system:unauthenticated' }, ['system:unauthenticated']],
    [{ 'impersonate-user': 'system:anonymous' }, ['system:unauthenticated']],
    [
      { 'impersonate-user': 'system:serviceaccount:x:robot' },
      ['system:serviceaccounts', 'system:serviceaccounts:x', 'system:authenticated'],
    ],
    [{ 'impersonate-user': 'system:serviceaccount:x' }, ['system:authenticated']],
  ])('%j is in %j', async (given, groups) => {
    expect(await as(given)).toMatchObject({ name: given['impersonate-user'], uid: '', groups })
  })

  test('has the uid and the extra of the headers', async () => {
    const given = { 'impersonate-user': 'carol', 'impersonate-uid': '7', 'impersonate-extra-acme.com%2fproject': 'p' }
    expect(await as(given)).toMatchObject({ uid: '7', extra: { 'acme.com/project': ['p'] } })
  })

  test('may have extra keys that every JavaScript object has', async () => {
    const given = { 'impersonate-user': 'carol', 'impersonate-extra-constructor': ['a', 'b'] }
    const user = (await as({ ...given, 'impersonate-extra-__proto__': 'c' })) as UserInfo
    expect(Object.entries(user.extra)).toEqual([
      ['constructor', ['a', 'b']],
      ['__proto__', ['c']],
    ])
  })

  test('is the authenticated user if the headers name none', async () => {
    expect(await as({ 'impersonate-user': '' })).toBe(alice)
  })

  test('needs a name if there are groups', async () => {
    expect(await as({ 'impersonate-group': 'team' })).toBe(
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"team"}, Extra:map[string][]string(nil)} without impersonating a user name',
    )
  })
})

describe('impersonation is allowed', () => {
  test('with the verb impersonate for user, group and extra each', async () => {
    const given = { 'impersonate-user': 'carol', 'impersonate-group': 'team', 'impersonate-extra-scopes': 'a' }
    const allowed = ['impersonate /users carol', 'impersonate /groups team']
    expect(await as(given, allowing(...allowed))).toMatch('cannot impersonate-on:user-info:list resource "pods"')
    const all = allowing(...allowed, 'impersonate authentication.k8s.io/userextras/scopes a')
    expect(await as(given, all)).toMatchObject({ name: 'carol' })
  })

  test('with the verb of a mode and the verb for what the request does', async () => {
    const both = allowing(
      'impersonate-on:user-info:list /pods',
      'impersonate:user-info authentication.k8s.io/users carol',
    )
    expect(await createImpersonation(both)(alice, headers({ 'impersonate-user': 'carol' }), list)).toMatchObject({
      user: { name: 'carol' },
      constraint: 'impersonate:user-info',
    })
    expect(await as({ 'impersonate-user': 'dave' }, both)).toBe(
      'users.authentication.k8s.io "dave" is forbidden: User "alice" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
    )
  })

  test.each([
    ['impersonate-extra-', 'a', 'the empty string key in extra is not allowed'],
    [
      'impersonate-extra-scopes',
      'a',
      'an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
    ['impersonate-extra-acme.io%2f%41', 'a', 'a non-lowercase key in extra is not allowed: "acme.io/A"'],
    ['impersonate-extra-acme.io%2fa', '', 'the empty string value in extra is not allowed'],
    ['impersonate-extra-acme.io%2fa', 'a', undefined],
  ])('by the newer modes, but with %s: %j only if it is a proper extra', async (name, value, why) => {
    const newer: Authorize = (_, { verb }) => ({
      allowed: verb.startsWith('impersonate-') || verb.includes(':'),
      reason: '',
    })
    const answer = await as({ 'impersonate-user': 'carol', [name]: value }, newer)
    if (why === undefined) expect(answer).toMatchObject({ extra: { 'acme.io/a': ['a'] } })
    else {
      expect(answer).toBe(
        `userextras.authentication.k8s.io is forbidden: User "alice" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: impersonating ${why}`,
      )
    }
  })

  test('by the older mode only, if the newer ones are off', async () => {
    const newer = allowing(
      'impersonate-on:user-info:list /pods',
      'impersonate:user-info authentication.k8s.io/users carol',
    )
    const carol = headers({ 'impersonate-user': 'carol' })
    await expect(createImpersonation(newer, false)(alice, carol, list)).rejects.toThrow(
      'cannot impersonate resource "users" in API group ""',
    )
    const older = createImpersonation(allowing('impersonate /users carol'), false)
    expect(await older(alice, carol, list)).toMatchObject({ user: { name: 'carol' } })
  })

  test('and each attempt and each question is reported with its mode', async () => {
    const reports: string[] = []
    const report = (what: string) => (mode: string, isAllowed: boolean) =>
      void reports.push(`${what} ${mode} ${isAllowed ? 'allowed' : 'denied'}`)
    const observer = { attempted: report('attempt'), asked: report('asked') }
    const impersonate = createImpersonation(allowing('impersonate /users carol'), true, observer)
    await impersonate(alice, headers({ 'impersonate-user': 'carol' }), list)
    expect(reports.splice(0)).toEqual(['asked user-info denied', 'asked legacy allowed', 'attempt legacy allowed'])
    await expect(impersonate(alice, headers({ 'impersonate-user': 'dave' }), list)).rejects.toThrow('cannot')
    expect(reports.splice(0)).toEqual(['asked legacy denied', 'asked user-info denied', 'attempt  denied'])
    // Without headers, or without a name, there is no attempt.
    await impersonate(alice, headers({}), list)
    await expect(impersonate(alice, headers({ 'impersonate-group': 'a' }), list)).rejects.toThrow('without')
    expect(reports).toEqual([])
  })

  test('and the last mode that was allowed is tried first', async () => {
    const impersonate = createImpersonation(allowing('impersonate /users carol'))
    expect(await impersonate(alice, headers({ 'impersonate-user': 'carol' }), list)).toEqual({
      user: expect.objectContaining({ name: 'carol' }),
      constraint: undefined,
    })
    await expect(impersonate(alice, headers({ 'impersonate-user': 'dave' }), list)).rejects.toThrow(
      'users "dave" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
    )
  })
})
