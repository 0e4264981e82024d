// What a write sets, keeps and clears for each built-in kind, whatever the client says: plain functions in a table.
// They change the object they are given, and never the old one.

import type { ApiObject } from '../meta/object/api-object.js'
import { ensureObject, has, keepFrom, objectAt, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import type { TypeTable } from '../types/type-table.js'
import { statusApart } from './common/build-kind.js'
import {
  type BuiltinStrategy,
  clearStatus,
  counted,
  countSpecChanges,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  startGeneration,
} from './common/strategies.js'
import { CONTROL_PLANE_STRATEGIES } from './control-plane-strategies.js'
import { newPodStatus, podGrace } from './core/pod/status.js'
import { forEphemeralContainers, forResize } from './core/pod/subresources.js'
import { podRowConditions } from './core/pod/table.js'
import { dropForType, keepAssigned, syncClusterIps } from './core/service/service-addresses.js'
import { setNamespaceLabel } from './defaults.js'
import { NETWORK_STRATEGIES } from './network-strategies.js'
import { signingRequests } from './signing-request-strategy.js'
import { STORAGE_STRATEGIES } from './storage-strategies.js'
import { WORKLOAD_STRATEGIES } from './workload-strategies.js'

// ---- kinds

const namespaces: BuiltinStrategy = {
  prepareForCreate: namespace => {
    const spec = ensureObject(namespace, 'spec')
    const finalizers = stringsAt(spec, 'finalizers')
    if (!finalizers.includes('kubernetes')) spec['finalizers'] = [...finalizers, 'kubernetes']
    namespace['status'] = { phase: 'Active' }
  },
  prepareForUpdate: inTurn(keepGeneration, keepStatus, (namespace, old) =>
    keepFrom(ensureObject(namespace, 'spec'), objectAt(old, 'spec'), 'finalizers'),
  ),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
  // The finalizers in the spec, and nothing of the status.
  prepareForSubresourceUpdate: { finalize: inTurn(keepGeneration, keepStatus) },
  finish: setNamespaceLabel,
  returnsDeletedObject: true,
  hasTerminatingPhase: true,
  blocksDeletion: namespace => stringsAt(objectAt(namespace, 'spec'), 'finalizers').length > 0,
  prepareForDelete: terminating,
}

/** A namespace has no grace period; its phase shows that it is being deleted. */
function terminating(namespace: ApiObject): ApiObject {
  const { deletionGracePeriodSeconds: _, ...metadata } = namespace.metadata
  return { ...namespace, metadata, status: { ...objectAt(namespace, 'status'), phase: 'Terminating' } }
}

const serviceAccounts: BuiltinStrategy = {
  prepareForCreate: nameSecretsOnly,
  prepareForUpdate: inTurn(keepGeneration, nameSecretsOnly),
  returnsDeletedObject: true,
}

/** A service account says which secrets it uses by their names. */
function nameSecretsOnly(account: ValueObject): void {
  if (!Array.isArray(account['secrets'])) return
  account['secrets'] = objectsAt(account, 'secrets').map(
    ({ name }): ValueObject => (name === undefined ? {} : { name }),
  )
}

/** Elections in which the server takes part are not on. */
const LEASE_ELECTION_FIELDS = ['strategy', 'preferredHolder']

const leases: BuiltinStrategy = {
  prepareForCreate: lease => {
    for (const field of LEASE_ELECTION_FIELDS) delete objectAt(lease, 'spec')[field]
  },
  prepareForUpdate: inTurn(keepGeneration, (lease, old) => {
    for (const field of LEASE_ELECTION_FIELDS) {
      if (!has(objectAt(old, 'spec'), field) && has(lease, 'spec')) delete objectAt(lease, 'spec')[field]
    }
  }),
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
}

const pods: BuiltinStrategy = {
  prepareForCreate: (pod, { now }) => {
    startGeneration(pod)
    pod['status'] = newPodStatus(pod, now)
  },
  prepareForUpdate: inTurn(keepGeneration, keepStatus, countSpecChanges),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, (pod, old) => {
    keepFrom(ensureObject(pod, 'metadata'), objectAt(old, 'metadata'), 'ownerReferences')
    keepFrom(ensureObject(pod, 'status'), objectAt(old, 'status'), 'qosClass')
  }),
  returnsDeletedObject: true,
  prepareForSubresourceUpdate: { ephemeralcontainers: forEphemeralContainers, resize: forResize },
  gracePeriod: podGrace,
  rowConditions: podRowConditions,
}

const nodes: BuiltinStrategy = {
  prepareForUpdate: inTurn(keepGeneration, keepStatus),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
}

const services = (table: TypeTable): BuiltinStrategy => {
  const clear = clearStatus(table, 'core/v1.ServiceStatus')
  return {
    prepareForCreate: (service, context) => {
      clear(service, context)
      syncClusterIps(ensureObject(service, 'spec'), undefined)
    },
    prepareForUpdate: inTurn(keepGeneration, keepStatus, (service, old, context) => {
      const spec = ensureObject(service, 'spec')
      const oldSpec = objectAt(old, 'spec')
      keepAssigned(spec, oldSpec)
      syncClusterIps(spec, oldSpec)
      dropForType(spec, oldSpec)
      // Nobody balances the load of a service that no longer asks for it.
      const before = stringAt(oldSpec, 'type')
      if (before === 'LoadBalancer' && stringAt(spec, 'type') !== before) clear(service, context)
    }),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
    allowCreateOnUpdate: true,
    returnsDeletedObject: true,
  }
}

const plain: BuiltinStrategy = { prepareForUpdate: keepGeneration }
const madeByUpdate: BuiltinStrategy = { prepareForUpdate: keepGeneration, allowCreateOnUpdate: true }

export const STRATEGIES: Readonly<Record<string, ((table: TypeTable) => BuiltinStrategy) | undefined>> = {
  'v1 Namespace': () => namespaces,
  'v1 ConfigMap': () => plain,
  'v1 Secret': () => plain,
  'v1 ServiceAccount': () => serviceAccounts,
  'v1 Event': () => madeByUpdate,
  'events.k8s.io/v1 Event': () => madeByUpdate,
  'coordination.k8s.io/v1 Lease': () => leases,
  'v1 Service': services,
  'v1 Endpoints': () => ({
    ...madeByUpdate,
    deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  }),
  'v1 Pod': () => pods,
  'v1 Node': () => nodes,
  'node.k8s.io/v1 RuntimeClass': () => ({ ...madeByUpdate, allowUnconditionalUpdate: false }),
  'scheduling.k8s.io/v1 PriorityClass': () => ({ ...plain, prepareForCreate: startGeneration }),
  ...WORKLOAD_STRATEGIES,
  ...NETWORK_STRATEGIES,
  ...STORAGE_STRATEGIES,
  ...CONTROL_PLANE_STRATEGIES,
  'certificates.k8s.io/v1 CertificateSigningRequest': signingRequests,
  'policy/v1 PodDisruptionBudget': counted('policy/v1.PodDisruptionBudgetStatus', { allowUnconditionalUpdate: false }),
  'storagemigration.k8s.io/v1beta1 StorageVersionMigration': table => ({
    ...statusApart('storagemigration.k8s.io/v1beta1', 'StorageVersionMigration')(table),
    allowUnconditionalUpdate: false,
  }),
  'rbac.authorization.k8s.io/v1 Role': () => madeByUpdate,
  'rbac.authorization.k8s.io/v1 ClusterRole': () => madeByUpdate,
  'rbac.authorization.k8s.io/v1 RoleBinding': () => madeByUpdate,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': () => madeByUpdate,
}
