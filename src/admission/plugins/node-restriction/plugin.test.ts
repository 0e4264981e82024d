import { expect, test } from 'vitest'
import { createAuthorizer } from '../../../auth/authz/authorizer.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import type { ValueObject } from '../../../meta/values/value.js'
import type { Lister } from '../../../objects/lister.js'
import { attributesFor, refusalOf, type TestRequest } from '../../attributes.suite.js'
import { nodeRestriction } from './plugin.js'

const user = { name: 'system:node:n1', uid: '', groups: ['system:nodes'], extra: {} }
const object = (kind: string, metadata: ValueObject, spec: ValueObject = {}, status: ValueObject = {}): ApiObject => ({
  apiVersion: 'v1',
  kind,
  metadata,
  spec,
  status,
})
const pod = (spec: ValueObject = {}, metadata: ValueObject = {}, status: ValueObject = {}): ApiObject =>
  object('Pod', { name: 'p', namespace: 'x', uid: 'pod-uid', ...metadata }, { nodeName: 'n1', ...spec }, status)
const stored: readonly ApiObject[] = [
  object('Node', { name: 'n1', uid: 'node-uid' }),
  pod({
    volumes: [
      { name: 'token', projected: { sources: [{ serviceAccountToken: { audience: 'vault' } }] } },
      { name: 'csi', csi: { driver: 'd' } },
    ],
  }),
  pod({ nodeName: 'n2' }, { name: 'other', uid: 'other-uid' }),
  object('CSIDriver', { name: 'd' }, { tokenRequests: [{ audience: 'store' }] }),
]
const objects = {
  find: ({ kind }: { kind: string }, _: string, name: string) =>
    Promise.resolve(stored.find(each => each.kind === kind && each.metadata?.['name'] === name)),
} as unknown as Lister
const authorizer = createAuthorizer((_, attributes) => ({
  allowed: 'resource' in attributes && attributes.resource === 'granted',
  reason: '',
}))
const plugin = nodeRestriction({ objects, authorizer: () => authorizer, featureGates: {} })

const mirror = (spec: ValueObject = {}, owner: ValueObject | null = {}): ApiObject =>
  pod(spec, {
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences:
      owner === null
        ? []
        : [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-uid', controller: true, ...owner }],
  })
const node = (labels: ValueObject = {}, spec: ValueObject = {}): ApiObject =>
  object('Node', { name: 'n1', labels }, spec)
const token = (spec: ValueObject): TestRequest => ({ object: object('TokenRequest', {}, spec), name: 'robot' })
const bound = (uid = 'pod-uid', name = 'p') => ({ apiVersion: 'v1', kind: 'Pod', name, uid })

test.each<[string, TestRequest, string]>([
  ['pods', { object: mirror() }, ''],
  [
    'pods',
    { object: pod() },
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  ],
  ['pods', { object: mirror({ nodeName: 'n2' }) }, 'node "n1" can only create pods with spec.nodeName set to itself'],
  ['pods', { object: mirror({}, null) }, 'node "n1" can only create pods with an owner reference set to itself'],
  [
    'pods',
    { object: mirror({}, { controller: false }) },
    'node "n1" can only create pods with a controller owner reference set to itself',
  ],
  [
    'pods',
    { object: mirror({}, { blockOwnerDeletion: true }) },
    'node "n1" must not set blockOwnerDeletion on an owner reference',
  ],
  ['pods', { object: mirror({}, { uid: 'y' }) }, 'node n1 UID mismatch: expected y got node-uid'],
  [
    'pods',
    { object: mirror({ serviceAccountName: 'default' }) },
    'node "n1" can not create pods that reference serviceaccounts',
  ],
  [
    'pods',
    { object: mirror({ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: {} }] } }] }) },
    'node "n1" can not create pods that reference clustertrustbundles',
  ],
  ['pods', { operation: 'DELETE', oldObject: stored[1], name: 'p' }, ''],
  [
    'pods',
    { operation: 'DELETE', oldObject: stored[2], name: 'other' },
    'node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  [
    'pods',
    { object: pod(), oldObject: pod() },
    'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
  ],
  [
    'pods/binding',
    { object: pod() },
    "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed",
  ],
  ['pods/status', { object: pod({}, {}, { phase: 'Running' }), oldObject: pod() }, ''],
  [
    'pods/status',
    { object: pod({}, { labels: { a: 'b' } }), oldObject: pod() },
    'node "n1" cannot update labels through pod status',
  ],
  [
    'pods/status',
    { object: pod({}, {}, { resourceClaimStatuses: [{ name: 'a' }] }), oldObject: pod() },
    'node "n1" cannot update resource claim statues',
  ],
  [
    'pods/eviction',
    { object: object('Eviction', {}), name: 'other' },
    'node n1 can only evict pods with spec.nodeName set to itself',
  ],
  ['nodes', { object: node({ 'kubernetes.io/hostname': 'n1', 'example.com/a': 'b' }), name: 'n1' }, ''],
  [
    'nodes',
    { object: node({ 'node-restriction.kubernetes.io/a': 'b', 'x.k8s.io/y': 'z' }), name: 'n1' },
    'node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/a, x.k8s.io/y',
  ],
  ['nodes', { object: node(), name: 'n2' }, 'node "n1" is not allowed to modify node "n2"'],
  [
    'nodes',
    { object: node({}, { taints: [] }), oldObject: node({}, { taints: [{ key: 'a' }] }), name: 'n1' },
    'node "n1" is not allowed to modify taints',
  ],
  [
    'nodes',
    { object: node(), oldObject: node({ 'kubernetes.io/role': 'x' }), name: 'n1' },
    'is not allowed to modify labels: kubernetes.io/role',
  ],
  ['persistentvolumeclaims', { object: object('PersistentVolumeClaim', {}) }, 'may only update PVC status'],
  ['serviceaccounts/token', token({ audiences: ['vault'], boundObjectRef: bound() }), ''],
  ['serviceaccounts/token', token({ audiences: ['store'], boundObjectRef: bound() }), ''],
  ['serviceaccounts/token', token({ audiences: ['granted'], boundObjectRef: bound() }), ''],
  [
    'serviceaccounts/token',
    token({ audiences: ['other'], boundObjectRef: bound() }),
    'audience "other" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
  ],
  [
    'serviceaccounts/token',
    token({ audiences: ['a', 'b'], boundObjectRef: bound() }),
    'node may only request 0 or 1 audiences',
  ],
  ['serviceaccounts/token', token({}), 'node requested token not bound to a pod'],
  [
    'serviceaccounts/token',
    token({ boundObjectRef: bound('') }),
    'node requested token with a pod binding without a uid',
  ],
  [
    'serviceaccounts/token',
    token({ boundObjectRef: bound('other-uid', 'other') }),
    'node requested token bound to a pod scheduled on a different node',
  ],
  [
    'leases.coordination.k8s.io',
    { object: object('Lease', { name: 'n1' }) },
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  ['leases.coordination.k8s.io', { object: object('Lease', { name: 'n1' }), namespace: 'kube-node-lease' }, ''],
  [
    'leases.coordination.k8s.io',
    { oldObject: object('Lease', {}), operation: 'DELETE', name: 'n1', namespace: 'kube-node-lease' },
    '',
  ],
  [
    'leases.coordination.k8s.io',
    { object: object('Lease', {}), oldObject: object('Lease', {}), name: 'n2', namespace: 'kube-node-lease' },
    'can only access node lease with the same name as the requesting node',
  ],
  [
    'csinodes.storage.k8s.io',
    { object: object('CSINode', { name: 'n2' }) },
    'can only access CSINode with the same name as the requesting node',
  ],
  [
    'resourceslices.resource.k8s.io',
    { object: object('ResourceSlice', {}, { nodeName: 'n2' }) },
    'can only create ResourceSlice with the same NodeName as the requesting node',
  ],
])('%s %#: a node gets %3$s', async (resource, tested, expected) => {
  const refusal = await refusalOf(plugin, attributesFor(resource, { ...tested, user }))
  expect(refusal.replace(/^.*? is forbidden: /, '')).toBe(expected)
})

test('other users are not restricted', async () => {
  expect(await refusalOf(plugin, attributesFor('pods', { object: pod() }))).toBe('')
})

test('a pod that is not there is not found', async () => {
  const missing = attributesFor('pods', { operation: 'DELETE', name: 'none', user })
  expect(await refusalOf(plugin, missing)).toBe('pods "none" not found')
})
