// The objects that every cluster has: namespaces, roles, priority classes, and the Service of the API server itself.
// Missing ones are created; existing ones are left as they are.

import { SYSTEM_NAMESPACES } from '../../admission/plugins.js'
import type { DefaultRole } from '../../auth/bootstrap-roles.js'
import { DEFAULT_CLUSTER_ROLE_BINDINGS, DEFAULT_CLUSTER_ROLES } from '../../auth/bootstrap-roles.js'
import { flowControlObjects } from '../../builtin/flow-control.js'
import { SYSTEM_PRIORITY_CLASSES } from '../../builtin/priority-classes.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { hasReason } from '../../meta/errors/status.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { forResource, systemRequest } from '../../request/request.js'
import { type UserInfo } from '../../request/user-info.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { MADE } from '../../verbs/pipeline.js'
import { createFrom } from '../../verbs/write.js'

export interface BootstrapOptions {
  /** `10.0.0.0/24`: the Service of the API server gets its first address. */
  readonly serviceRange: string
  /** The port of https. */
  readonly port: number
}

const SYSTEM: UserInfo = {
  name: 'system:apiserver',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
}
const FIELD_MANAGER = 'binnacle'

export async function bootstrap(context: ApiContext, registry: Registry, options: BootstrapOptions): Promise<void> {
  // Namespaces first, because other objects are created in them.
  await Promise.all(namespaces().map(object => createMissing(context, registry, object)))
  const objects = [
    ...priorityClasses(),
    ...clusterRoles(),
    ...clusterRoleBindings(),
    ...flowControlObjects(),
    ...ownService(options),
  ]
  await Promise.all(objects.map(object => createMissing(context, registry, object)))
}

async function createMissing(context: ApiContext, registry: Registry, object: ApiObject): Promise<void> {
  const kind = kindOf(registry, object)
  if (!kind) return
  const { namespace = '', name = '' } = metaOf(object)
  if (await context.objectStore(kind).get(namespace, name)) return
  const version = kind.versions.find(each => each.name === kind.storageVersion)!
  const target = { kind, version, namespace, name: '', subresource: '' } as const
  const options = { dryRun: false, fieldManager: FIELD_MANAGER, fieldValidation: 'Ignore' } as const
  try {
    const request = systemRequest({ user: SYSTEM, userAgent: FIELD_MANAGER, receivedAt: context.now() })
    await createFrom(context, forResource(request, target, options), object, MADE)
  } catch (error) {
    // Another server on the same store has created it meanwhile.
    if (!hasReason(error, 'AlreadyExists')) throw error
  }
}

function kindOf(registry: Registry, { apiVersion, kind }: ApiObject): Kind | undefined {
  const groupVersion = parseGroupVersion(apiVersion)
  return groupVersion.ok ? registry.findKind(groupVersion.value.group, kind) : undefined
}

const namespaces = (): ApiObject[] =>
  SYSTEM_NAMESPACES.map(name => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))

const priorityClasses = (): ApiObject[] =>
  SYSTEM_PRIORITY_CLASSES.map(({ name, value, description }) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description,
  }))

const RBAC = 'rbac.authorization.k8s.io/v1'

/** The marks of a default role, as kube-apiserver sets them. */
const defaultRoleMeta = (name: string, labels: Record<string, string> = {}): ValueObject => ({
  name,
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
})

const clusterRoles = (): ApiObject[] => DEFAULT_CLUSTER_ROLES.map(clusterRole)

function clusterRole({ name, rules, aggregates, partOf }: DefaultRole): ApiObject {
  const metadata = defaultRoleMeta(name, partOf === undefined ? {} : { [partOf]: 'true' })
  const role = { apiVersion: RBAC, kind: 'ClusterRole', metadata }
  if (aggregates === undefined) return { ...role, rules: plain(rules) }
  const selectors = [{ matchLabels: { [aggregates]: 'true' } }]
  return { ...role, aggregationRule: { clusterRoleSelectors: selectors }, rules: null }
}

const clusterRoleBindings = (): ApiObject[] =>
  DEFAULT_CLUSTER_ROLE_BINDINGS.map(({ name, roleRef, subjects = [] }) => ({
    apiVersion: RBAC,
    kind: 'ClusterRoleBinding',
    metadata: defaultRoleMeta(name),
    roleRef: plain(roleRef),
    subjects: plain(subjects),
  }))

/** A copy: the tables of default roles are shared, and a created object may be changed. */
const plain = (data: unknown): Value => structuredClone(data) as Value

function ownService({ serviceRange, port }: BootstrapOptions): ApiObject[] {
  const clusterIP = firstAddress(serviceRange)
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'kubernetes',
        namespace: 'default',
        labels: { component: 'apiserver', provider: 'kubernetes' },
      },
      spec: {
        type: 'ClusterIP',
        clusterIP,
        clusterIPs: [clusterIP],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
      },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'kubernetes' },
      spec: { cidrs: [serviceRange] },
    },
  ]
}

/** The first usable address of a range: `10.0.0.1` of `10.0.0.0/24`. */
export function firstAddress(range: string): string {
  const [address = '', bits = '32'] = range.split('/')
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - Number(bits))
  const first = Math.floor(number / size) * size + 1
  return [24, 16, 8, 0].map(shift => Math.floor(first / 2 ** shift) % 256).join('.')
}
