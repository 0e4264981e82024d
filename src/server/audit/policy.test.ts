import { expect, test } from 'vitest'
import { parseRequestInfo } from '../../request/request-info.js'
import { type AuditPolicy, parseAuditPolicy } from './policy.js'

const policy = (rules: readonly object[], more: object = {}): AuditPolicy =>
  parseAuditPolicy(Buffer.from(JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, ...more })))
const user = { name: 'ann', uid: '', groups: ['devs'], extra: {} }
const levelOf = (rule: object, path: string, method = 'GET'): string =>
  policy([{ level: 'Metadata', ...rule }]).evaluate(parseRequestInfo(method, path, ''), user).level

const POD = '/api/v1/namespaces/a/pods/p'

test.each<[string, object, string, boolean]>([
  ['no condition', {}, POD, true],
  ['user', { users: ['ann'] }, POD, true],
  ['another user', { users: ['bob'] }, POD, false],
  ['group', { userGroups: ['ops', 'devs'] }, POD, true],
  ['verb', { verbs: ['get'] }, POD, true],
  ['another verb', { verbs: ['list'] }, POD, false],
  ['namespace', { namespaces: ['a'] }, POD, true],
  ['no namespace', { namespaces: [''] }, '/api/v1/nodes/n', true],
  ['namespace and a path', { namespaces: ['a'] }, '/version', false],
  ['resource', { resources: [{ group: '', resources: ['pods'] }] }, POD, true],
  ['whole group', { resources: [{ group: 'apps' }] }, '/apis/apps/v1/deployments', true],
  ['every group', { resources: [{ group: '*', resources: ['deployments'] }] }, '/apis/apps/v1/deployments', true],
  ['another group', { resources: [{ group: 'apps' }] }, POD, false],
  ['resource without its subresources', { resources: [{ resources: ['pods'] }] }, `${POD}/status`, false],
  ['subresource', { resources: [{ resources: ['pods/status'] }] }, `${POD}/status`, true],
  ['all subresources', { resources: [{ resources: ['pods/*'] }] }, `${POD}/status`, true],
  ['a subresource of all', { resources: [{ resources: ['*/status'] }] }, `${POD}/status`, true],
  ['everything', { resources: [{ resources: ['*'] }] }, `${POD}/status`, true],
  ['name', { resources: [{ resources: ['pods'], resourceNames: ['p'] }] }, POD, true],
  ['another name', { resources: [{ resources: ['pods'], resourceNames: ['q'] }] }, POD, false],
  ['path', { nonResourceURLs: ['/version'] }, '/version', true],
  ['paths', { nonResourceURLs: ['/healthz*'] }, '/healthz/etcd', true],
  ['path and a resource', { nonResourceURLs: ['*'] }, POD, false],
])('a rule matches by %s', (_, rule, path, isMatch) => {
  expect(levelOf(rule, path)).toBe(isMatch ? 'Metadata' : 'None')
})

test('the first rule counts; stages and managed fields are those of the policy and the rule', () => {
  const both = policy(
    [
      { level: 'Request', verbs: ['get'], omitStages: ['ResponseStarted'], omitManagedFields: false },
      { level: 'RequestResponse' },
    ],
    { omitStages: ['RequestReceived'], omitManagedFields: true },
  )
  expect(both.evaluate(parseRequestInfo('GET', POD, ''), user)).toEqual({
    level: 'Request',
    omitStages: ['RequestReceived', 'ResponseStarted'],
    omitManagedFields: false,
  })
  expect(both.evaluate(parseRequestInfo('DELETE', POD, ''), undefined)).toEqual({
    level: 'RequestResponse',
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
  })
})

test.each<[object[], object, string]>([
  [[], {}, 'has no rules'],
  [[{ level: 'All' }], {}, 'rules[0].level: "All" is not one of None, Metadata, Request, RequestResponse'],
  [[{ level: 'None' }], { omitStages: ['Never'] }, 'omitStages: "Never" is not one of'],
  [[{ level: 'None', nonResourceURLs: ['/a'], namespaces: ['b'] }], {}, 'either for nonResourceURLs or for resources'],
  [[{ level: 'None', nonResourceURLs: ['a/*/b'] }], {}, 'is neither "*" nor a path'],
  [[{ level: 'None' }], { kind: 'Rules' }, 'must be a Policy of audit.k8s.io/v1'],
])('what is no policy is refused: %#', (rules, more, message) => {
  expect(() => policy(rules, more)).toThrow(message)
})
