import { describe, expect, test } from 'vitest'
import { type AccessAttributes } from '../../request/access-attributes.js'
import { type UserInfo } from '../../request/user-info.js'
import { ALWAYS_ALLOW, ALWAYS_DENY, refusal } from './authorizer.js'
import { allows, createRbacAuthorizer, type RbacObjects } from './rbac.js'

const alice: UserInfo = { name: 'alice', uid: '', groups: ['devs', 'system:authenticated'], extra: {} }
const attributes = (changes: Partial<Extract<AccessAttributes, { resource: string }>> = {}): AccessAttributes => ({
  verb: 'get',
  group: '',
  resource: 'configmaps',
  subresource: '',
  namespace: 'default',
  name: 'a',
  ...changes,
})

describe('a rule', () => {
  const rule = { apiGroups: [''], resources: ['configmaps', 'pods/log', '*/scale'], verbs: ['get', 'list'] }
  test.each([
    [attributes(), true],
    [attributes({ verb: 'delete' }), false],
    [attributes({ group: 'apps' }), false],
    [attributes({ resource: 'pods' }), false],
    [attributes({ resource: 'pods', subresource: 'log' }), true],
    [attributes({ resource: 'things', subresource: 'scale' }), true],
    [attributes({ subresource: 'status' }), false],
  ])('covers %j: %s', (requested, expected) => expect(allows(rule, requested)).toBe(expected))

  test('with resourceNames covers only these names, and no list', () => {
    const named = { ...rule, resourceNames: ['a'] }
    expect(allows(named, attributes())).toBe(true)
    expect(allows(named, attributes({ name: 'b' }))).toBe(false)
    expect(allows(named, attributes({ verb: 'list', name: '' }))).toBe(false)
  })

  test.each([
    ['/healthz', '/healthz', true],
    ['/healthz/*', '/healthz/ping', true],
    ['/healthz/*', '/healthz', false],
    ['*', '/anything', true],
  ])('of the path %s covers %s: %s', (pattern, path, expected) => {
    expect(allows({ nonResourceURLs: [pattern], verbs: ['get'] }, { verb: 'get', path })).toBe(expected)
  })
})

describe('the RBAC authorizer', () => {
  const reader = { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }] }
  const objects = (changes: Partial<RbacObjects>): RbacObjects => ({
    clusterRole: name => (name === 'reader' ? reader : undefined),
    role: (namespace, name) => (namespace === 'default' && name === 'reader' ? reader : undefined),
    clusterRoleBindings: () => [],
    roleBindings: () => [],
    ...changes,
  })
  const bind = (kind: string, subject: string, roleKind = 'ClusterRole', name = 'reader') => [
    { subjects: [{ kind, name: subject }], roleRef: { kind: roleKind, name } },
  ]

  test.each([
    ['no subject', objects({}), false],
    ['a user everywhere', objects({ clusterRoleBindings: () => bind('User', 'alice') }), true],
    ['a group everywhere', objects({ clusterRoleBindings: () => bind('Group', 'devs') }), true],
    ['another user', objects({ clusterRoleBindings: () => bind('User', 'bob') }), false],
    ['a user by a role in the namespace', objects({ roleBindings: () => bind('User', 'alice', 'Role') }), true],
    ['a user by a cluster role in the namespace', objects({ roleBindings: () => bind('User', 'alice') }), true],
  ])('when bound to %s', async (_, rbac, expected) => {
    expect((await createRbacAuthorizer(rbac).authorize(alice, attributes())).allowed).toBe(expected)
  })

  test('a binding in a namespace allows nothing at the cluster scope', async () => {
    const rbac = objects({ roleBindings: () => bind('User', 'alice') })
    expect((await createRbacAuthorizer(rbac).authorize(alice, attributes({ namespace: '' }))).allowed).toBe(false)
  })

  test('members of system:masters may do everything', async () => {
    const master = { ...alice, groups: ['system:masters'] }
    expect((await createRbacAuthorizer(objects({})).authorize(master, attributes({ verb: 'delete' }))).allowed).toBe(
      true,
    )
  })

  test('the text of a refusal names user, verb, resource and namespace, and a role that does not exist', async () => {
    const rbac = objects({ clusterRoleBindings: () => bind('User', 'alice', 'ClusterRole', 'gone') })
    const decision = await createRbacAuthorizer(rbac).authorize(alice, attributes())
    expect(refusal(alice, attributes(), decision).status.message).toBe(
      'configmaps "a" is forbidden: User "alice" cannot get resource "configmaps" in API group "" in the namespace "default": RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    )
    expect(refusal(alice, { verb: 'get', path: '/metrics' }, { allowed: false, reason: '' }).status.message).toBe(
      'forbidden: User "alice" cannot get path "/metrics"',
    )
  })
})

test('AlwaysAllow allows everything, AlwaysDeny everything to system:masters only', () => {
  expect(ALWAYS_ALLOW.decideNow(alice, attributes(), {})).toEqual({ allowed: true, reason: '' })
  expect(ALWAYS_DENY.decideNow(alice, attributes(), {})).toEqual({ allowed: false, reason: 'Everything is forbidden.' })
  const master = { ...alice, groups: ['system:masters'] }
  expect(ALWAYS_DENY.decideNow(master, attributes(), {}).allowed).toBe(true)
})
