import { describe, expect, it, test } from 'vitest'
import type { AccessAttributes } from '../../request/access-attributes.js'
import { abacRules, createAbacAuthorizer, parsePolicyFile } from './abac.js'

const user = (name: string, ...groups: string[]) => ({
  name,
  uid: '',
  groups: [...groups, 'system:authenticated'],
  extra: {},
})
const access = (verb: string, resource: string, namespace = 'a', group = ''): AccessAttributes => ({
  verb,
  group,
  resource,
  subresource: '',
  namespace,
  name: '',
})
const policy = (spec: object): string =>
  JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec })

const decide = (line: string, name: string, attributes: AccessAttributes, ...groups: string[]): boolean =>
  createAbacAuthorizer(parsePolicyFile(line, 'f')).decideNow(user(name, ...groups), attributes, {}).allowed

describe('a policy', () => {
  const bob = policy({ user: 'bob', namespace: 'a', resource: 'pods', apiGroup: '*' })
  test.each([
    [bob, 'bob', access('create', 'pods'), true],
    [bob, 'bob', access('create', 'services'), false],
    [bob, 'bob', access('create', 'pods', 'b'), false],
    [bob, 'eve', access('create', 'pods'), false],
    [policy({ group: 'team', resource: '*', namespace: '*' }), 'bob', access('get', 'pods'), false],
    [policy({ user: '*', resource: '*', namespace: '*', readonly: true }), 'bob', access('list', 'pods'), true],
    [policy({ user: '*', resource: '*', namespace: '*', readonly: true }), 'bob', access('update', 'pods'), false],
    [policy({ resource: '*', namespace: '*' }), 'bob', access('get', 'pods'), false],
    [policy({ user: 'bob', nonResourcePath: '/logs/*' }), 'bob', { verb: 'get', path: '/logs/a' }, true],
    [policy({ user: 'bob', nonResourcePath: '/logs/*' }), 'bob', { verb: 'get', path: '/metrics' }, false],
    ['{"user":"bob"}', 'bob', access('delete', 'pods', 'x', 'apps'), true],
    ['{"user":"bob","resource":"pods"}', 'bob', { verb: 'get', path: '/metrics' }, false],
    ['{"readonly":true}', 'eve', { verb: 'get', path: '/metrics' }, true],
  ])('%s: %s, %j → %s', (line, name, attributes, allowed) => {
    expect(decide(line, name, attributes)).toBe(allowed)
  })

  it('for everyone is for those who are authenticated only', () => {
    const authorizer = createAbacAuthorizer(
      parsePolicyFile(policy({ user: '*', resource: '*', namespace: '*', apiGroup: '*' }), 'f'),
    )
    const anonymous = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} }
    expect(authorizer.decideNow(anonymous, access('get', 'pods'), {})).toEqual({
      allowed: false,
      reason: 'No policy matched.',
    })
  })
})

it('reads a file line by line and names the line that is wrong', () => {
  const text = `# comment\n\n${policy({ user: 'a' })}\n{"user":`
  expect(() => parsePolicyFile(text, 'policy.jsonl')).toThrow(
    /^error reading policy file policy.jsonl, line 4: \{"user":: /,
  )
})

it('lists the rules of a user', () => {
  const policies = parsePolicyFile(policy({ user: 'bob', resource: 'pods', namespace: 'a', readonly: true }), 'f')
  expect(abacRules(policies).rulesFor(user('bob'), 'a').rules).toEqual([
    { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
  ])
  expect(abacRules(policies).rulesFor(user('bob'), 'b').rules).toEqual([])
})
