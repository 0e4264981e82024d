import { describe, expect, test } from 'vitest'
import { type AccessAttributes } from '../../request/access-attributes.js'
import { type UserInfo } from '../../request/user-info.js'
import { refusal } from './authorize.js'
import { allows, authorizeByRbac, type RbacObjects } from './rbac.js'

const alice: UserInfo = { name: 'alice', uid: '', groups: ['devs', 'system:authenticated'], extra: {}, userAgent: '' }
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

  test('of names covers these alone, and no collection', () => {
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

describe('the authorizer', () => {
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
    ['nobody', objects({}), false],
    ['a user everywhere', objects({ clusterRoleBindings: () => bind('User', 'alice') }), true],
    ['a group everywhere', objects({ clusterRoleBindings: () => bind('Group', 'devs') }), true],
    ['someone else', objects({ clusterRoleBindings: () => bind('User', 'bob') }), false],
    ['a user by a role in the namespace', objects({ roleBindings: () => bind('User', 'alice', 'Role') }), true],
    ['a user by a cluster role in the namespace', objects({ roleBindings: () => bind('User', 'alice') }), true],
  ])('when bound to %s', async (_, rbac, expected) => {
    expect((await authorizeByRbac(rbac)(alice, attributes())).allowed).toBe(expected)
  })

  test('a binding in a namespace says nothing about the cluster', async () => {
    const rbac = objects({ roleBindings: () => bind('User', 'alice') })
    expect((await authorizeByRbac(rbac)(alice, attributes({ namespace: '' }))).allowed).toBe(false)
  })

  test('masters may do anything', async () => {
    const master = { ...alice, groups: ['system:masters'] }
    expect((await authorizeByRbac(objects({}))(master, attributes({ verb: 'delete' }))).allowed).toBe(true)
  })

  test('a refusal says who may not do what where, and which role is missing', async () => {
    const rbac = objects({ clusterRoleBindings: () => bind('User', 'alice', 'ClusterRole', 'gone') })
    const decision = await authorizeByRbac(rbac)(alice, attributes())
    expect(refusal(alice, attributes(), decision).status.message).toBe(
      'configmaps "a" is forbidden: User "alice" cannot get resource "configmaps" in API group "" in the namespace "default": RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    )
    expect(refusal(alice, { verb: 'get', path: '/metrics' }, { allowed: false, reason: '' }).status.message).toBe(
      'forbidden: User "alice" cannot get path "/metrics"',
    )
  })
})
