import { describe, expect, test } from 'vitest'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { ResourceAccess } from '../../request/access-attributes.js'
import { nodeRules } from '../policy/policy.js'
import { createNodeAuthorizer, NODE_RULES } from './node-authorizer.js'
import { createNodeGraph } from './node-graph.js'

const userOf = (name: string, groups = ['system:nodes']) => ({ name, uid: '', groups, extra: {} })
const node = userOf('system:node:n1')

const pod = (name: string, nodeName: string, more: object = {}, annotations = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', annotations },
  spec: { nodeName, serviceAccountName: 'robot', ...more },
})

const graph = createNodeGraph()
graph.put(
  'Pod',
  'a',
  'web',
  pod('web', 'n1', {
    imagePullSecrets: [{ name: 'pull' }],
    containers: [
      {
        envFrom: [{ secretRef: { name: 'env' } }, { configMapRef: { name: 'env' } }],
        env: [{ valueFrom: { secretKeyRef: { name: 'key' } } }],
      },
    ],
    initContainers: [{ env: [{ valueFrom: { configMapKeyRef: { name: 'key' } } }] }],
    volumes: [
      { name: 'v', secret: { secretName: 'volume' } },
      { name: 'w', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected' } }] } },
      { name: 'x', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'y', ephemeral: { volumeClaimTemplate: {} } },
    ],
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }],
  }),
)
graph.put('Pod', 'a', 'other', pod('other', 'n2', { imagePullSecrets: [{ name: 'theirs' }] }))
graph.put(
  'Pod',
  'a',
  'mirror',
  pod('mirror', 'n1', { imagePullSecrets: [{ name: 'no' }] }, { 'kubernetes.io/config.mirror': 'x' }),
)
graph.put('PersistentVolume', '', 'disk', {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'disk' },
  spec: {
    claimRef: { namespace: 'a', name: 'claim' },
    csi: {
      nodeStageSecretRef: { namespace: 'b', name: 'stage' },
      controllerPublishSecretRef: { namespace: 'b', name: 'control' },
    },
  },
})
graph.put('VolumeAttachment', '', 'attached', {
  apiVersion: '',
  kind: '',
  metadata: { name: 'attached' },
  spec: { nodeName: 'n1' },
})
graph.put('ResourceSlice', '', 'slice', {
  apiVersion: '',
  kind: '',
  metadata: { name: 'slice' },
  spec: { nodeName: 'n1' },
})

for (const [name, nodeName] of [
  ['mine', 'n1'],
  ['theirs', 'n2'],
] as const)
  graph.put('PodCertificateRequest', 'a', name, {
    apiVersion: '',
    kind: '',
    metadata: { name, namespace: 'a' },
    spec: { nodeName },
  })

const authorizer = createNodeAuthorizer(graph, nodeRules())
const NOT_RELATED = "no relationship found between node 'n1' and this object"

/** `verb group/resource/subresource namespace/name ?selector`, with - for what is empty. */
function decide(text: string, user = node, asked = authorizer) {
  const [verb = '', what = '', object = '-/-', fieldSelector] = text.split(' ')
  const part = (of: string, i: number): string => (of.split('/')[i] ?? '-').replace(/^-$/, '')
  const attributes: ResourceAccess = {
    verb,
    group: part(what, 0),
    resource: part(what, 1),
    subresource: part(what, 2),
    namespace: part(object, 0),
    name: part(object, 1),
    fieldSelector,
  }
  const { allowed, reason } = asked.decideNow(user, attributes, {})
  return allowed ? 'allowed' : reason
}

describe('a node', () => {
  test.each([
    ['get -/secrets a/pull', 'allowed'],
    ['list -/secrets a/env', 'allowed'],
    ['watch -/secrets a/key', 'allowed'],
    ['get -/secrets a/volume', 'allowed'],
    ['get -/secrets a/projected', 'allowed'],
    ['get -/secrets b/stage', 'allowed'],
    ['get -/secrets b/control', NOT_RELATED],
    ['get -/secrets a/theirs', NOT_RELATED],
    ['get -/secrets a/no', NOT_RELATED],
    ['list -/secrets a/-', 'No Object name found'],
    ['list -/secrets -/-', 'can only read namespaced object of this type'],
    ['update -/secrets a/pull', 'can only read resources of this type'],
    ['get -/configmaps a/env', 'allowed'],
    ['get -/configmaps a/key', 'allowed'],
    ['get -/configmaps a/projected', 'allowed'],
    ['get -/configmaps a/none', NOT_RELATED],
    ['get -/persistentvolumeclaims a/claim', 'allowed'],
    ['get -/persistentvolumeclaims a/web-y', 'allowed'],
    ['list -/persistentvolumeclaims a/claim', 'can only get individual resources of this type'],
    ['patch -/persistentvolumeclaims/status a/claim', 'allowed'],
    ['get -/persistentvolumeclaims/status a/claim', 'can only get/update/patch this type'],
    ['get -/persistentvolumes -/disk', 'allowed'],
    ['get -/persistentvolumes -/none', NOT_RELATED],
    ['get resource.k8s.io/resourceclaims a/gpu', 'allowed'],
    ['get resource.k8s.io/resourceclaims/status a/gpu', 'cannot get subresource'],
    ['get storage.k8s.io/volumeattachments -/attached', 'allowed'],
    ['get -/serviceaccounts a/robot', 'allowed'],
    ['create -/serviceaccounts/token a/robot', 'allowed'],
    ['create -/serviceaccounts/token a/other', NOT_RELATED],
    ['create -/serviceaccounts a/robot', 'can only create token subresource of serviceaccount'],
    ['list -/serviceaccounts a/-', 'can only create tokens for individual service accounts'],
    ['update coordination.k8s.io/leases kube-node-lease/n1', 'allowed'],
    ['create coordination.k8s.io/leases kube-node-lease/-', 'allowed'],
    ['update coordination.k8s.io/leases a/n1', 'can only access leases in the "kube-node-lease" system namespace'],
    [
      'get coordination.k8s.io/leases kube-node-lease/n2',
      'can only access node lease with the same name as the requesting node',
    ],
    [
      'list coordination.k8s.io/leases kube-node-lease/-',
      'can only get, create, update, patch, or delete a node lease',
    ],
    ['get storage.k8s.io/csinodes -/n1', 'allowed'],
    ['get storage.k8s.io/csinodes -/n2', 'can only access CSINode with the same name as the requesting node'],
    ['get resource.k8s.io/resourceslices -/slice', 'allowed'],
    ['create resource.k8s.io/resourceslices -/-', 'allowed'],
    ['list resource.k8s.io/resourceslices -/- spec.nodeName=n1', 'allowed'],
    [
      'list resource.k8s.io/resourceslices -/- spec.nodeName=n2',
      'can only list/watch/deletecollection resourceslices with nodeName field selector',
    ],
    ['get -/nodes -/n1', 'allowed'],
    ['get -/nodes -/n2', "node 'n1' cannot read 'n2', only its own Node object"],
    ['list -/nodes -/-', "node 'n1' cannot read all nodes, only its own Node object"],
    ['patch -/nodes/status -/n2', 'allowed'],
    ['delete -/nodes -/n1', ''],
    ['get -/pods a/web', 'allowed'],
    ['get -/pods a/mirror', 'allowed'],
    ['get -/pods a/other', NOT_RELATED],
    ['list -/pods -/- spec.nodeName=n1', 'allowed'],
    ['list -/pods -/-', 'can only list/watch pods with spec.nodeName field selector'],
    ['create -/pods/eviction a/other', 'allowed'],
    ['get -/pods/log a/web', ''],
    ['list -/services -/-', 'allowed'],
    ['create -/services a/-', ''],
  ])('%s: %s', (text, expected) => {
    expect(decide(text)).toBe(expected)
  })

  test.each([
    ['create certificates.k8s.io/podcertificaterequests a/-', 'allowed'],
    ['get certificates.k8s.io/podcertificaterequests a/mine', 'allowed'],
    ['get certificates.k8s.io/podcertificaterequests a/theirs', NOT_RELATED],
    ['list certificates.k8s.io/podcertificaterequests -/- spec.nodeName=n1', 'allowed'],
    [
      'watch certificates.k8s.io/podcertificaterequests a/-',
      'can only list/watch podcertificaterequests with nodeName field selector',
    ],
    ['delete certificates.k8s.io/podcertificaterequests a/mine', 'nodes may not delete podcertificaterequests'],
    [
      'update certificates.k8s.io/podcertificaterequests/status a/mine',
      'nodes may not access the status subresource of PodCertificateRequests',
    ],
    ['get -/serviceaccounts a/robot', 'allowed'],
  ])('while it may request certificates of pods, %s: %s', (text, expected) => {
    const gates = { PodCertificateRequest: true, KubeletServiceAccountTokenForCredentialProviders: false }
    expect(decide(text, node, createNodeAuthorizer(graph, [], gates))).toBe(expected)
    expect(decide('create certificates.k8s.io/podcertificaterequests a/-')).toBe('')
  })

  test('may not read accounts while none of the gates that need it is on', () => {
    const closed = createNodeAuthorizer(graph, [], { KubeletServiceAccountTokenForCredentialProviders: false })
    expect(decide('get -/serviceaccounts a/robot', node, closed)).toBe('not allowed to get service accounts')
    expect(decide('create -/serviceaccounts/token a/robot', node, closed)).toBe('allowed')
  })

  test('of the same rights is no other user', () => {
    expect(decide('list -/services', userOf('system:node:n1', []))).toBe('')
    expect(decide('list -/services', userOf('jane'))).toBe('')
    expect(decide('list -/services', userOf('system:node:'))).toBe('unknown node for user "system:node:"')
    expect(NODE_RULES.rulesFor(node, 'a')).toMatchObject({ incomplete: true })
    expect(NODE_RULES.rulesFor(userOf('jane'), 'a')).toEqual({ rules: [], error: '' })
  })

  test('has no right to an object whose pods are gone', () => {
    const fresh = createNodeGraph()
    const isRelated = () => fresh.isRelated('n1', 'secret', 'a', 'pull')
    const web = pod('web', 'n1', { imagePullSecrets: [{ name: 'pull' }, { name: 'pull' }] })
    fresh.put('Pod', 'a', 'web', web)
    fresh.put('Pod', 'a', 'second', pod('second', 'n1', { imagePullSecrets: [{ name: 'pull' }] }))
    fresh.put('Pod', 'a', 'web', undefined)
    expect(isRelated()).toBe(true)
    fresh.put('Pod', 'a', 'second', pod('second', 'n2'))
    expect(isRelated()).toBe(false)
  })
})
