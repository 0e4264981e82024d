// The roles and bindings that a new server has, so that clients find what every cluster has.
import type { PolicyRule, RoleBinding } from './rbac.js'

interface DefaultRole {
  readonly name: string
  readonly rules: readonly PolicyRule[]
}

interface DefaultBinding {
  readonly name: string
  readonly groups: readonly string[]
}

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
  ...view,
  rule('', ['secrets'], READ),
  ...NAMESPACED.map(([group, resources]) => rule(group, resources, WRITE)),
  rule('', ['secrets', 'pods/eviction'], WRITE),
  rule('coordination.k8s.io', ['leases'], [...READ, ...WRITE]),
]
const admin = [
  ...edit,
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

export const DEFAULT_CLUSTER_ROLES: readonly DefaultRole[] = [
  {
    name: 'cluster-admin',
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
  },
  { name: 'admin', rules: admin },
  { name: 'edit', rules: edit },
  { name: 'view', rules: view },
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
]

const DEFAULT_BINDINGS: readonly DefaultBinding[] = [
  { name: 'cluster-admin', groups: ['system:masters'] },
  { name: 'system:basic-user', groups: ['system:authenticated'] },
  { name: 'system:discovery', groups: ['system:authenticated'] },
  { name: 'system:public-info-viewer', groups: ['system:authenticated', 'system:unauthenticated'] },
  { name: 'system:monitoring', groups: ['system:monitoring'] },
]

const RBAC_GROUP = 'rbac.authorization.k8s.io'

export const DEFAULT_CLUSTER_ROLE_BINDINGS: readonly (RoleBinding & { readonly name: string })[] = DEFAULT_BINDINGS.map(
  ({ name, groups }) => ({
    name,
    subjects: groups.map(group => ({ kind: 'Group', apiGroup: RBAC_GROUP, name: group })),
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
  }),
)
