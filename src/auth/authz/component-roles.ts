// The cluster roles of components that run against this server: schedulers, controllers, proxies, nodes.
import type { PolicyRule } from './rbac.js'

export interface DefaultRole {
  readonly name: string
  readonly rules: readonly PolicyRule[]
  /** It has the rules of all roles with this label. */
  readonly aggregates?: string
  /** The label that adds its rules to another role. */
  readonly partOf?: string
}

/** A binding has the name of the role that it binds. */
export interface DefaultBinding {
  readonly name: string
  readonly groups?: readonly string[]
  readonly users?: readonly string[]
}

type Line = readonly [groups: string, resources: string, verbs: string, names?: string]

/** Lists are words between spaces; `core` is the group without a name. */
const rules = (...lines: readonly Line[]): PolicyRule[] => lines.map(rule)

const rule = ([groups, resources, verbs, names]: Line): PolicyRule => ({
  apiGroups: groups.split(' ').map(group => (group === 'core' ? '' : group)),
  resources: resources.split(' '),
  verbs: verbs.split(' '),
  ...(names !== undefined && { resourceNames: names.split(' ') }),
})

const READ = 'get list watch'
const EVENTS: Line = ['core events.k8s.io', 'events', 'create patch update']
const REVIEWS: readonly Line[] = [
  ['authentication.k8s.io', 'tokenreviews', 'create'],
  ['authorization.k8s.io', 'subjectaccessreviews', 'create'],
]
const leader = (name: string): readonly Line[] => [
  ['coordination.k8s.io', 'leases', 'create'],
  ['coordination.k8s.io', 'leases', 'get list update watch', name],
]

export const COMPONENT_ROLES: readonly DefaultRole[] = [
  {
    name: 'system:kube-scheduler',
    rules: rules(
      EVENTS,
      ...leader('kube-scheduler'),
      ['core', 'nodes namespaces replicationcontrollers services persistentvolumeclaims persistentvolumes', READ],
      ['core', 'pods', 'delete get list watch'],
      ['core', 'bindings pods/binding', 'create'],
      ['core', 'pods/status', 'patch update'],
      ['apps', 'replicasets statefulsets', READ],
      ['policy', 'poddisruptionbudgets', READ],
      ['storage.k8s.io', 'csinodes csidrivers csistoragecapacities volumeattachments', READ],
      ['resource.k8s.io', 'deviceclasses resourceclaims resourceslices', READ],
      ['resource.k8s.io', 'resourceclaims resourceclaims/status', 'patch update'],
      ...REVIEWS,
    ),
  },
  {
    name: 'system:volume-scheduler',
    rules: rules(
      ['core', 'persistentvolumes persistentvolumeclaims', 'get list patch update watch'],
      ['storage.k8s.io', 'storageclasses', READ],
    ),
  },
  {
    name: 'system:kube-controller-manager',
    rules: rules(
      EVENTS,
      ...leader('kube-controller-manager'),
      ['core', 'secrets serviceaccounts', 'create get update'],
      ['core', 'secrets', 'delete'],
      ['core', 'configmaps namespaces', 'get'],
      ['core', 'serviceaccounts/token', 'create'],
      ['*', '*', 'list watch'],
      ...REVIEWS,
    ),
  },
  {
    name: 'system:node-proxier',
    rules: rules(
      EVENTS,
      ['core', 'endpoints services', 'list watch'],
      ['core', 'nodes', READ],
      ['discovery.k8s.io', 'endpointslices', 'list watch'],
      ['networking.k8s.io', 'servicecidrs', 'list watch'],
    ),
  },
  {
    name: 'system:node',
    rules: rules(
      EVENTS,
      ...REVIEWS,
      ['authorization.k8s.io', 'localsubjectaccessreviews', 'create'],
      ['core', 'services configmaps secrets', READ],
      ['core', 'nodes', 'create get list patch update watch'],
      ['core', 'nodes/status pods/status', 'patch update'],
      ['core', 'pods', 'create delete get list watch'],
      ['core', 'pods/eviction serviceaccounts/token', 'create'],
      ['core', 'persistentvolumeclaims persistentvolumes endpoints', 'get'],
      ['core', 'persistentvolumeclaims/status', 'get patch update'],
      ['certificates.k8s.io', 'certificatesigningrequests', 'create get list watch'],
      ['coordination.k8s.io', 'leases', 'create delete get patch update'],
      ['storage.k8s.io', 'volumeattachments', 'get'],
      ['storage.k8s.io', 'csidrivers', READ],
      ['storage.k8s.io', 'csinodes', 'create delete get patch update'],
      ['node.k8s.io', 'runtimeclasses', READ],
    ),
  },
  {
    name: 'system:node-bootstrapper',
    rules: rules(['certificates.k8s.io', 'certificatesigningrequests', 'create get list watch']),
  },
  {
    name: 'system:node-problem-detector',
    rules: rules(EVENTS, ['core', 'nodes', 'get'], ['core', 'nodes/status', 'patch']),
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: rules(
      EVENTS,
      ['core', 'persistentvolumes', 'create delete get list watch'],
      ['core', 'persistentvolumeclaims', 'get list update watch'],
      ['core', 'events', 'watch'],
      ['storage.k8s.io', 'storageclasses', READ],
    ),
  },
  { name: 'system:kube-dns', rules: rules(['core', 'endpoints services', 'list watch']) },
  { name: 'system:auth-delegator', rules: rules(...REVIEWS) },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [{ nonResourceURLs: ['/.well-known/openid-configuration', '/openid/v1/jwks'], verbs: ['get'] }],
  },
]

export const COMPONENT_BINDINGS: readonly DefaultBinding[] = [
  { name: 'system:kube-scheduler', users: ['system:kube-scheduler'] },
  { name: 'system:volume-scheduler', users: ['system:kube-scheduler'] },
  { name: 'system:kube-controller-manager', users: ['system:kube-controller-manager'] },
  { name: 'system:node-proxier', users: ['system:kube-proxy'] },
  { name: 'system:service-account-issuer-discovery', groups: ['system:serviceaccounts'] },
]
