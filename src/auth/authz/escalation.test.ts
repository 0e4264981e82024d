import { describe, expect, test } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type UserInfo } from '../../request/user-info.js'
import { type Authorizer, createAuthorizer } from './authorizer.js'
import { checkEscalation } from './escalation.js'
import { allows, type PolicyRule } from './rbac.js'
import type { RuleResolver } from './rule-resolver.js'

const alice: UserInfo = { name: 'alice', uid: '', groups: ['devs'], extra: {} }
const get: PolicyRule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }

interface Access extends Authorizer, RuleResolver {}

/** The user holds the rules of `held`; `roles` are the roles that exist. */
const authorizer = (held: readonly PolicyRule[], roles: Record<string, readonly PolicyRule[]> = {}): Access => ({
  ...createAuthorizer((_, attributes) => ({ allowed: held.some(rule => allows(rule, attributes)), reason: '' })),
  rulesFor: () => ({ rules: held, error: '' }),
  rulesOf: ({ name }) => roles[name],
})

async function write(
  plural: string,
  content: ValueObject,
  held: Access,
  { old, user = alice }: { old?: ApiObject; user?: UserInfo } = {},
): Promise<string> {
  const resource = { group: 'rbac.authorization.k8s.io', resource: plural }
  const object = { apiVersion: '', kind: '', metadata: { name: 'a' }, ...content } as ApiObject
  try {
    await checkEscalation({ resource, namespace: 'x', name: '', object, old, user }, held, held)
    return 'written'
  } catch (error) {
    return (error as Error).message
  }
}

const refused = (plural: string, lines: string): string =>
  `${plural}.rbac.authorization.k8s.io "a" is forbidden: user "alice" (groups=["devs"]) is attempting to grant RBAC permissions not currently held:\n${lines}`

describe('a role', () => {
  test('may hold what its writer holds', async () => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['one'] }]
    expect(await write('roles', { rules }, authorizer([get]))).toBe('written')
  })

  test('may not hold more, and the message lists the rules that its writer lacks', async () => {
    const rules = [
      { apiGroups: [''], resources: ['pods', 'configmaps'], verbs: ['get', 'delete'] },
      { nonResourceURLs: ['/x'], verbs: ['get'] },
    ]
    expect(await write('roles', { rules }, authorizer([get]))).toBe(
      refused(
        'roles',
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}\n' +
          '{APIGroups:[""], Resources:["pods"], Verbs:["get" "delete"]}\n' +
          '{NonResourceURLs:["/x"], Verbs:["get"]}',
      ),
    )
  })

  test('may hold anything if its writer may escalate, or is an administrator', async () => {
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
    const escalate = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['escalate'] }
    expect(await write('roles', { rules }, authorizer([escalate]))).toBe('written')
    const user = { ...alice, groups: ['system:masters'] }
    expect(await write('roles', { rules }, authorizer([]), { user })).toBe('written')
  })

  test('may have an aggregation rule only if its writer may do everything', async () => {
    const aggregationRule = { clusterRoleSelectors: [{}] }
    expect(await write('clusterroles', { aggregationRule }, authorizer([get]))).toBe(
      'clusterroles.rbac.authorization.k8s.io "a" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    )
  })

  test('may lose its finalizers by a writer who does not hold its rules', async () => {
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
    const old = { apiVersion: '', kind: '', metadata: { name: 'a', finalizers: ['x/y'] }, rules } as ApiObject
    expect(await write('roles', { rules }, authorizer([]), { old })).toBe('written')
  })
})

describe('a binding', () => {
  const bindingTo = (name: string) => ({ roleRef: { apiGroup: '', kind: 'Role', name } })

  test('needs the rules of the role', async () => {
    const held = authorizer([get], {
      weak: [get],
      strong: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    })
    expect(await write('rolebindings', bindingTo('weak'), held)).toBe('written')
    expect(await write('rolebindings', bindingTo('strong'), held)).toBe(
      refused('rolebindings', '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'),
    )
  })

  test('needs a role that exists, unless its writer may bind it', async () => {
    expect(await write('rolebindings', bindingTo('nothere'), authorizer([get]))).toBe(
      'rolebindings.rbac.authorization.k8s.io "nothere" not found',
    )
    const bind = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['bind'] }
    expect(await write('rolebindings', bindingTo('nothere'), authorizer([bind]))).toBe('written')
  })
})
