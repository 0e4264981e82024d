// The cluster roles and bindings that every cluster has: for users, discovery and public information.
import { COMPONENT_BINDINGS, COMPONENT_ROLES, type DefaultBinding, type DefaultRole } from './component-roles.js'
import type { PolicyRule, RoleBinding } from './rbac.js'

const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update']

const rule = (group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
})

const NAMESPACED: readonly (readonly [string, readonly string[]])[] = [
  [
    '',
    [
      'configmaps',
      'events',
      'persistentvolumeclaims',
      'pods',
      'replicationcontrollers',
      'replicationcontrollers/scale',
      'serviceaccounts',
      'services',
      'endpoints',
    ],
  ],
  [
    'apps',
    [
      'controllerrevisions',
      'daemonsets',
      'deployments',
      'deployments/scale',
      'replicasets',
      'replicasets/scale',
      'statefulsets',
      'statefulsets/scale',
    ],
  ],
  ['autoscaling', ['horizontalpodautoscalers']],
  ['batch', ['cronjobs', 'jobs']],
  ['discovery.k8s.io', ['endpointslices']],
  ['networking.k8s.io', ['ingresses', 'networkpolicies']],
  ['policy', ['poddisruptionbudgets']],
]
const STATUSES: readonly (readonly [string, readonly string[]])[] = [
  [
    '',
    [
      'bindings',
      'limitranges',
      'namespaces',
      'namespaces/status',
      'persistentvolumeclaims/status',
      'pods/log',
      'pods/status',
      'replicationcontrollers/status',
      'resourcequotas',
      'resourcequotas/status',
      'services/status',
    ],
  ],
  ['apps', ['daemonsets/status', 'deployments/status', 'replicasets/status', 'statefulsets/status']],
  ['batch', ['cronjobs/status', 'jobs/status']],
]

const view = [...NAMESPACED, ...STATUSES].map(([group, resources]) => rule(group, resources, READ))
const edit = [
  rule('', ['secrets'], READ),
  rule('', ['serviceaccounts'], ['impersonate']),
  ...NAMESPACED.map(([group, resources]) => rule(group, resources, WRITE)),
  rule('', ['secrets', 'pods/eviction'], WRITE),
  rule('', ['serviceaccounts/token'], ['create']),
  rule('coordination.k8s.io', ['leases'], [...READ, ...WRITE]),
]
const admin = [
  rule('rbac.authorization.k8s.io', ['rolebindings', 'roles'], [...READ, ...WRITE]),
  rule('authorization.k8s.io', ['localsubjectaccessreviews'], ['create']),
]
const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/']
const discoveryPaths = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/',
]

// Definitions of new kinds come with roles that carry these, so that `view` and the others count for them too.
const TO_ADMIN = 'rbac.authorization.k8s.io/aggregate-to-admin'
const TO_EDIT = 'rbac.authorization.k8s.io/aggregate-to-edit'
const TO_VIEW = 'rbac.authorization.k8s.io/aggregate-to-view'

export const DEFAULT_CLUSTER_ROLES: readonly DefaultRole[] = [
  {
    name: 'cluster-admin',
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
  },
  { name: 'admin', rules: [], aggregates: TO_ADMIN },
  { name: 'edit', rules: [], aggregates: TO_EDIT, partOf: TO_ADMIN },
  { name: 'view', rules: [], aggregates: TO_VIEW, partOf: TO_EDIT },
  { name: 'system:aggregate-to-admin', rules: admin, partOf: TO_ADMIN },
  { name: 'system:aggregate-to-edit', rules: edit, partOf: TO_EDIT },
  { name: 'system:aggregate-to-view', rules: view, partOf: TO_VIEW },
  {
    name: 'system:basic-user',
    rules: [
      rule('authorization.k8s.io', ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], ['create']),
      rule('authentication.k8s.io', ['selfsubjectreviews'], ['create']),
    ],
  },
  { name: 'system:discovery', rules: [{ nonResourceURLs: discoveryPaths, verbs: ['get'] }] },
  { name: 'system:public-info-viewer', rules: [{ nonResourceURLs: publicPaths, verbs: ['get'] }] },
  {
    name: 'system:monitoring',
    rules: [
      {
        nonResourceURLs: [
          '/healthz',
          '/healthz/*',
          '/livez',
          '/livez/*',
          '/metrics',
          '/metrics/slis',
          '/readyz',
          '/readyz/*',
        ],
        verbs: ['get'],
      },
    ],
  },
  ...COMPONENT_ROLES,
]

const DEFAULT_BINDINGS: readonly DefaultBinding[] = [
  { name: 'cluster-admin', groups: ['system:masters'] },
  { name: 'system:basic-user', groups: ['system:authenticated'] },
  { name: 'system:discovery', groups: ['system:authenticated'] },
  { name: 'system:public-info-viewer', groups: ['system:authenticated', 'system:unauthenticated'] },
  { name: 'system:monitoring', groups: ['system:monitoring'] },
  ...COMPONENT_BINDINGS,
]

const RBAC_GROUP = 'rbac.authorization.k8s.io'

export const DEFAULT_CLUSTER_ROLE_BINDINGS: readonly (RoleBinding & { readonly name: string })[] = DEFAULT_BINDINGS.map(
  ({ name, groups = [], users = [] }) => ({
    name,
    subjects: [
      ...users.map(user => ({ kind: 'User', apiGroup: RBAC_GROUP, name: user })),
      ...groups.map(group => ({ kind: 'Group', apiGroup: RBAC_GROUP, name: group })),
    ],
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
  }),
)
