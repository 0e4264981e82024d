import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { parseRequestInfo } from '../../request/request-info.js'
import { compileSchema } from './flow-schema.js'

const flow = (rule: ValueObject) =>
  compileSchema({
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: 'f', uid: 'u' },
    spec: { matchingPrecedence: 9, priorityLevelConfiguration: { name: 'l' }, rules: [rule] },
  })

const info = (method: string, path: string) => parseRequestInfo(method, path, '')
const user = { name: 'system:serviceaccount:a:b', uid: '', groups: ['g'], extra: {} }

const RESOURCES = { verbs: ['get'], apiGroups: [''], resources: ['pods', 'pods/status'], namespaces: ['a'] }

test.each([
  [{ kind: 'User', user: { name: 'system:serviceaccount:a:b' } }, true],
  [{ kind: 'User', user: { name: '*' } }, true],
  [{ kind: 'User', user: { name: 'x' } }, false],
  [{ kind: 'Group', group: { name: 'g' } }, true],
  [{ kind: 'Group', group: { name: 'h' } }, false],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: '*' } }, true],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: 'c' } }, false],
])('subject %j matches: %s', (subject, matches) => {
  const { matches: found } = flow({ subjects: [subject], resourceRules: [RESOURCES] })
  expect(found(user, info('GET', '/api/v1/namespaces/a/pods/p'))).toBe(matches)
})

test.each([
  ['GET', '/api/v1/namespaces/a/pods/p/status', true],
  ['GET', '/api/v1/namespaces/b/pods/p', false],
  ['DELETE', '/api/v1/namespaces/a/pods/p', false],
  ['GET', '/api/v1/nodes/p', false],
  ['GET', '/healthz', true],
  ['GET', '/healthz/ping', true],
  ['GET', '/healthzz', false],
  ['GET', '/x/y', true],
])('%s %s matches: %s', (method, path, matches) => {
  const { matches: found } = flow({
    subjects: [{ kind: 'Group', group: { name: '*' } }],
    resourceRules: [RESOURCES],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/healthz', '/x/*'] }],
  })
  expect(found(user, info(method, path))).toBe(matches)
})
