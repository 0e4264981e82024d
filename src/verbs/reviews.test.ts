import { describe, expect, test } from 'vitest'
import { staticTokens } from '../auth/authn/authenticate.js'
import { createRbacAuthorizer, type RbacObjects } from '../auth/authz/rbac.js'
import { createRbacRules } from '../auth/authz/rule-resolver.js'
import { reviewKinds } from '../auth/reviews/review-kinds.js'
import type { Value } from '../meta/values/value.js'
import { systemRequest, withOptions } from '../request/request.js'
import { type UserInfo } from '../request/user-info.js'
import { type VirtualResource } from '../request/virtual-resource.js'
import { createVirtual } from './create-virtual.js'
import { offlineEnv } from './pipeline/pipeline-env.js'

const alice: UserInfo = { name: 'alice', uid: 'u', groups: ['devs'], extra: {} }
const objects: RbacObjects = {
  clusterRole: name => (name === 'paths' ? { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] } : undefined),
  role: () => ({ rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  clusterRoleBindings: () => [
    {
      metadata: { name: 'all' },
      roleRef: { kind: 'ClusterRole', name: 'paths' },
      subjects: [{ kind: 'Group', name: 'devs' }],
    },
    { roleRef: { kind: 'ClusterRole', name: 'nothere' }, subjects: [{ kind: 'User', name: 'bob' }] },
  ],
  roleBindings: namespace => [
    {
      metadata: { name: 'b', namespace },
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'ServiceAccount', name: 'robot', namespace: 'y' },
        { kind: 'User', name: 'alice' },
      ],
    },
  ],
}
const tokens = new Map([['t', { name: 'alice', uid: 'u', groups: ['devs'], extra: {} }]])
const kinds = reviewKinds(createRbacAuthorizer(objects), createRbacRules(objects), [staticTokens(tokens)])

async function ask(resource: string, body: Value, namespace = ''): Promise<unknown> {
  const kind = kinds.find(({ resource: facts }) => facts.name === resource) as VirtualResource
  const sent = { bytes: Buffer.from(JSON.stringify(body)), mediaType: 'application/json' }
  try {
    const options = { dryRun: false, fieldManager: '', fieldValidation: '' } as const
    const request = withOptions(systemRequest({ user: alice, userAgent: 'test' }), options)
    const { object } = await createVirtual(offlineEnv(), request, kind, { namespace, name: '' }, sent)
    return object['status']
  } catch (error) {
    // The message about metadata prints the managedFields, too, with their time.
    return (error as Error).message.replace(/,"managedFields":\[.*\]/, '')
  }
}

describe('an access review', () => {
  const pods = { namespace: 'x', verb: 'get', resource: 'pods' }

  test('names the binding that allows the request', async () => {
    expect(await ask('selfsubjectaccessreviews', { spec: { resourceAttributes: pods } })).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/x" of Role "r" to User "alice"',
    })
    expect(
      await ask('selfsubjectaccessreviews', { spec: { nonResourceAttributes: { path: '/x', verb: 'get' } } }),
    ).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "paths" to Group "devs"',
    })
  })

  test('is decided for the user and groups in its spec', async () => {
    const spec = { resourceAttributes: pods }
    expect(await ask('subjectaccessreviews', { spec: { ...spec, user: 'system:serviceaccount:y:robot' } })).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/x" of Role "r" to ServiceAccount "robot/y"',
    })
    expect(await ask('subjectaccessreviews', { spec: { ...spec, user: 'carol' } })).toEqual({ allowed: false })
    expect(await ask('subjectaccessreviews', { spec: { ...spec, user: 'bob' } })).toEqual({
      allowed: false,
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "nothere" not found',
    })
  })

  test.each([
    ['selfsubjectaccessreviews', {}, 'spec.resourceAttributes: Invalid value: null: exactly one of'],
    [
      'subjectaccessreviews',
      { spec: { resourceAttributes: pods } },
      'spec.user: Invalid value: "": at least one of user',
    ],
    [
      'selfsubjectaccessreviews',
      { metadata: { name: 'n' }, spec: { resourceAttributes: pods } },
      'metadata: Invalid value: {"name":"n"}: must be empty',
    ],
    [
      'localsubjectaccessreviews',
      { spec: { user: 'u', resourceAttributes: { ...pods, namespace: 'other' } } },
      'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
    ],
  ])('%s cannot be %j', async (resource, body, message) => {
    expect(await ask(resource, body, resource.startsWith('local') ? 'x' : '')).toMatch(
      `.authorization.k8s.io "" is invalid: ${message}`,
    )
  })
})

test('a SelfSubjectRulesReview returns all rules of a namespace', async () => {
  expect(await ask('selfsubjectrulesreviews', { spec: { namespace: 'x' } })).toEqual({
    resourceRules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    nonResourceRules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }],
    incomplete: false,
  })
  expect(await ask('selfsubjectrulesreviews', {})).toBe('no namespace on request')
})

test('a SelfSubjectReview returns the user', async () => {
  expect(await ask('selfsubjectreviews', { status: { userInfo: { username: 'forged' } } })).toEqual({
    userInfo: { username: 'alice', uid: 'u', groups: ['devs'] },
  })
})

test('a TokenReview returns the user of the token', async () => {
  expect(await ask('tokenreviews', { spec: { token: 't' } })).toEqual({
    authenticated: true,
    user: { username: 'alice', uid: 'u', groups: ['devs', 'system:authenticated'] },
    audiences: ['https://kubernetes.default.svc'],
  })
  expect(await ask('tokenreviews', { spec: { token: 't', audiences: ['other'] } })).toEqual({
    user: {},
    error: 'invalid bearer token',
  })
  expect(await ask('tokenreviews', {})).toBe('token is required for TokenReview in authentication')
})

test('a review shows the fields that its sender set', async () => {
  const kind = kinds.find(({ resource }) => resource.name === 'tokenreviews') as VirtualResource
  const options = { dryRun: false, fieldManager: 'm', fieldValidation: '' } as const
  const request = withOptions(systemRequest({ user: alice, userAgent: 'test' }), options)
  const body = { bytes: Buffer.from('{"spec":{"token":"t"}}'), mediaType: 'application/json' }
  const { object } = await createVirtual(offlineEnv(), request, kind, { namespace: '', name: '' }, body)
  expect(object.metadata).toMatchObject({
    managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': { 'f:token': {} } } }],
  })
})

const selecting = (selector: object): Value => ({
  spec: { resourceAttributes: { verb: 'list', resource: 'pods', ...selector } },
})

test.each([
  [
    { fieldSelector: { requirements: [{ key: 'a', operator: 'In', values: [] }] } },
    'fieldSelector.requirements[0].values: Required value',
  ],
  [
    { fieldSelector: { requirements: [{ key: '', operator: 'In', values: ['x'] }] } },
    'fieldSelector.requirements[0].key: Required value',
  ],
  [
    { labelSelector: { requirements: [{ key: 'a', operator: 'Exists', values: ['x'] }] } },
    'labelSelector.requirements[0].values: Forbidden',
  ],
  [
    { labelSelector: { requirements: [{ key: 'a b', operator: 'In', values: ['x'] }] } },
    'labelSelector.requirements[0].key: Invalid value',
  ],
])('a review with %j is refused', async (selector, message) => {
  expect(await ask('selfsubjectaccessreviews', selecting(selector))).toContain(message)
})

test.each([
  [{ fieldSelector: { rawSelector: 'a in b' } }, 'spec.resourceAttributes.fieldSelector ignored due to parse error'],
  [
    {
      labelSelector: {
        requirements: [
          { key: 'a', operator: 'Foo' },
          { key: 'a', operator: 'Exists' },
        ],
      },
    },
    'spec.resourceAttributes.labelSelector partially ignored due to parse error',
  ],
])('a review with %j says what it ignores', async (selector, evaluationError) => {
  expect(await ask('selfsubjectaccessreviews', selecting(selector))).toMatchObject({ evaluationError })
})
