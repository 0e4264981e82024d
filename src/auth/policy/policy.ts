// The bootstrap policy of kube-apiserver: the roles and bindings that every cluster has, as objects.

import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import type { PolicyRule } from '../authz/rbac.js'
import { componentRoles } from './component-roles.js'
import { controllerRoles } from './controller-roles.js'
import { withGates } from './gated-roles.js'
import { namespaceRoles } from './namespace-roles.js'
import type { NamedRules } from './policy-text.js'
import { userRoles } from './user-roles.js'

/** A new copy for each call, because a created object may be changed. */
export function bootstrapPolicy(gates: FeatureGates = {}): ApiObject[] {
  const clusterRoles = withGates([...userRoles(), ...componentRoles(), ...controllerRoles()], gates)
  const controllers = clusterRoles.filter(({ name }) => name.startsWith(CONTROLLER))
  const trust = isGateOn(gates, 'ClusterTrustBundle') ? [TRUST_BINDING] : []
  return [
    ...clusterRoles.map(clusterRole),
    ...aggregatedRoles(),
    ...[...CLUSTER_BINDINGS, ...trust, ...controllers.map(bindingOfController)].map(clusterRoleBinding),
    ...Object.entries(namespaceRoles()).flatMap(([namespace, roles]) =>
      roles.flatMap(({ name, rules }) => [
        { apiVersion: RBAC, kind: 'Role', metadata: metadataOf(name, { namespace }), rules: rules as unknown as Value },
        roleBinding(namespace, name),
      ]),
    ),
  ]
}

/** What every node may do, by the role system:node. */
export const nodeRules = (gates: FeatureGates = {}): readonly PolicyRule[] =>
  withGates(componentRoles(), gates).find(({ name }) => name === 'system:node')!.rules

const RBAC_GROUP = 'rbac.authorization.k8s.io'
const RBAC = `${RBAC_GROUP}/v1`
const CONTROLLER = 'system:controller:'

type Labels = Record<string, string>

function metadataOf(name: string, more: { namespace?: string; labels?: Labels } = {}): ValueObject {
  const { namespace, labels } = more
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  }
}

// ---- roles

/** The label that adds the rules of a role to `admin`, `edit` or `view`. Definitions of new kinds use it too. */
const aggregateTo = (name: string): Labels => ({ [`${RBAC_GROUP}/aggregate-to-${name}`]: 'true' })

function clusterRole({ name, rules }: NamedRules): ApiObject {
  const part = /^system:aggregate-to-(.+)$/.exec(name)?.[1]
  const labels = part === undefined ? {} : aggregateTo(part)
  return {
    apiVersion: RBAC,
    kind: 'ClusterRole',
    metadata: metadataOf(name, { labels }),
    rules: rules as unknown as Value,
  }
}

/** Each has its own part and the rules of the next; a controller copies the rules. */
const aggregatedRoles = (): ApiObject[] =>
  Object.entries({ admin: {}, edit: aggregateTo('admin'), view: aggregateTo('edit') }).map(([name, labels]) => ({
    apiVersion: RBAC,
    kind: 'ClusterRole',
    metadata: metadataOf(name, { labels }),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateTo(name) }] },
    rules: null,
  }))

// ---- bindings

interface Binding {
  readonly name: string
  readonly subjects: readonly ValueObject[]
}

const user = (name: string): ValueObject => ({ kind: 'User', apiGroup: RBAC_GROUP, name })
const group = (name: string): ValueObject => ({ kind: 'Group', apiGroup: RBAC_GROUP, name })
const account = (name: string): ValueObject => ({ kind: 'ServiceAccount', name, namespace: 'kube-system' })

const CLUSTER_BINDINGS: readonly Binding[] = [
  { name: 'cluster-admin', subjects: [group('system:masters')] },
  { name: 'system:basic-user', subjects: [group('system:authenticated')] },
  { name: 'system:discovery', subjects: [group('system:authenticated')] },
  { name: 'system:kube-controller-manager', subjects: [user('system:kube-controller-manager')] },
  { name: 'system:kube-dns', subjects: [account('kube-dns')] },
  { name: 'system:kube-scheduler', subjects: [user('system:kube-scheduler')] },
  { name: 'system:monitoring', subjects: [group('system:monitoring')] },
  { name: 'system:node', subjects: [] },
  { name: 'system:node-proxier', subjects: [user('system:kube-proxy')] },
  {
    name: 'system:public-info-viewer',
    subjects: [group('system:authenticated'), group('system:unauthenticated')],
  },
  { name: 'system:service-account-issuer-discovery', subjects: [group('system:serviceaccounts')] },
  { name: 'system:volume-scheduler', subjects: [user('system:kube-scheduler')] },
]

const TRUST_BINDING: Binding = {
  name: 'system:cluster-trust-bundle-discovery',
  subjects: [group('system:serviceaccounts')],
}

const bindingOfController = ({ name }: NamedRules): Binding => ({
  name,
  subjects: [account(name.slice(CONTROLLER.length))],
})

const clusterRoleBinding = ({ name, subjects }: Binding): ApiObject => ({
  apiVersion: RBAC,
  kind: 'ClusterRoleBinding',
  metadata: metadataOf(name),
  ...subjectsOf(subjects),
  roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
})

/** The bindings of namespaced roles that are not for the controller of their name. */
const NAMESPACE_BINDINGS: Readonly<Record<string, Binding>> = {
  'extension-apiserver-authentication-reader': {
    name: 'system::extension-apiserver-authentication-reader',
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler')],
  },
  'system::leader-locking-kube-controller-manager': {
    name: 'system::leader-locking-kube-controller-manager',
    subjects: [
      user('system:kube-controller-manager'),
      account('kube-controller-manager'),
      account('leader-election-controller'),
    ],
  },
  'system::leader-locking-kube-scheduler': {
    name: 'system::leader-locking-kube-scheduler',
    subjects: [user('system:kube-scheduler'), account('kube-scheduler')],
  },
}

function roleBinding(namespace: string, role: string): ApiObject {
  const { name, subjects } = NAMESPACE_BINDINGS[role] ?? {
    name: role,
    subjects: [account(role.slice(CONTROLLER.length))],
  }
  return {
    apiVersion: RBAC,
    kind: 'RoleBinding',
    metadata: metadataOf(name, { namespace }),
    ...subjectsOf(subjects),
    roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: role },
  }
}

const subjectsOf = (subjects: readonly ValueObject[]): ValueObject =>
  subjects.length === 0 ? {} : { subjects: subjects.map(subject => ({ ...subject })) }
