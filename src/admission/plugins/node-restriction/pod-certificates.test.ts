import { expect, test } from 'vitest'
import { createAuthorizer } from '../../../auth/authz/authorizer.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import type { ValueObject } from '../../../meta/values/value.js'
import type { Lister } from '../../../objects/lister.js'
import { attributesFor, refusalOf, type TestRequest } from '../../attributes.suite.js'
import { nodeRestriction } from './plugin.js'

const user = { name: 'system:node:n1', uid: '', groups: ['system:nodes'], extra: {} }
const object = (kind: string, metadata: ValueObject, spec: ValueObject = {}): ApiObject => ({
  apiVersion: 'v1',
  kind,
  metadata,
  spec,
})
const pod = (name: string, spec: ValueObject = {}, annotations: ValueObject = {}): ApiObject =>
  object('Pod', { name, uid: `${name}-uid`, annotations }, { nodeName: 'n1', serviceAccountName: 'robot', ...spec })
const stored = [
  object('Node', { name: 'n1', uid: 'node-uid' }),
  object('ServiceAccount', { name: 'robot', uid: 'robot-uid' }),
  pod('web'),
  pod('elsewhere', { nodeName: 'n2' }),
  pod('mirror', {}, { 'kubernetes.io/config.mirror': 'x' }),
  pod('orphan', { serviceAccountName: 'gone' }),
]
const objects = {
  find: ({ kind }: { kind: string }, _: string, name: string) =>
    Promise.resolve(stored.find(each => each.kind === kind && each.metadata?.['name'] === name)),
} as unknown as Lister
const authorizer = () => createAuthorizer(() => ({ allowed: false, reason: '' }))

const request = (spec: ValueObject = {}): TestRequest => ({
  namespace: 'x',
  object: object(
    'PodCertificateRequest',
    { name: 'r' },
    {
      nodeName: 'n1',
      nodeUID: 'node-uid',
      podName: 'web',
      podUID: 'web-uid',
      serviceAccountName: 'robot',
      serviceAccountUID: 'robot-uid',
      ...spec,
    },
  ),
})

async function refusal(resource: string, tested: TestRequest, isOn = true): Promise<string> {
  const plugin = nodeRestriction({ objects, authorizer, featureGates: { PodCertificateRequest: isOn } })
  return refusalOf(plugin, attributesFor(`${resource}.certificates.k8s.io`, { ...tested, user }))
}

const FORBIDDEN = 'podcertificaterequests.certificates.k8s.io "r" is forbidden: '

test.each<[string, ValueObject, string]>([
  ['all as stored', {}, ''],
  [
    'another node',
    { nodeName: 'n2' },
    `${FORBIDDEN}PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"`,
  ],
  [
    'the uid of another node',
    { nodeUID: 'y' },
    'PodCertificateRequest for pod "x/web" names node UID "y", inconsistent with the running node ("node-uid")',
  ],
  [
    'no such pod',
    { podName: 'none' },
    'while retrieving pod "x/none" named in the PodCertificateRequest: pods "none" not found',
  ],
  [
    'the uid of another pod',
    { podUID: 'y' },
    'PodCertificateRequest for pod "x/web" contains pod UID ("y") which differs from running pod "web-uid"',
  ],
  [
    'a pod elsewhere',
    { podName: 'elsewhere', podUID: 'elsewhere-uid' },
    `${FORBIDDEN}pod "x/elsewhere" is not running on node "n1" named in the PodCertificateRequest`,
  ],
  ['a mirror pod', { podName: 'mirror', podUID: 'mirror-uid' }, `${FORBIDDEN}pod "x/mirror" is a mirror pod`],
  [
    'another account',
    { serviceAccountName: 'default' },
    `${FORBIDDEN}PodCertificateRequest for pod "x/web" contains serviceAccountName ("default") that differs from running pod ("robot")`,
  ],
  [
    'an account that is gone',
    { podName: 'orphan', podUID: 'orphan-uid', serviceAccountName: 'gone' },
    'while retrieving service account "x/gone" named in the PodCertificateRequest: serviceaccounts "gone" not found',
  ],
  [
    'the uid of another account',
    { serviceAccountUID: 'y' },
    'PodCertificateRequest for pod "x/web" names service account UID "y", which differs from the running service account ("robot-uid")',
  ],
])('a node requests a certificate for %s', async (_, spec, expected) => {
  expect(await refusal('podcertificaterequests', request(spec))).toBe(expected)
})

test('a node changes none, and requests none while the feature gate is off', async () => {
  const { object: old } = request()
  expect(await refusal('podcertificaterequests', { ...request(), oldObject: old, name: 'r' })).toBe(
    `${FORBIDDEN}unexpected operation UPDATE`,
  )
  expect(await refusal('podcertificaterequests', request(), false)).toBe(
    `${FORBIDDEN}PodCertificateRequest feature gate is disabled`,
  )
})
