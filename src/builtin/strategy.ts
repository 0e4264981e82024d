// What a write sets, keeps and clears for each built-in kind, whatever the client says: plain functions in a table.
// They change the object they are given, and never the old one.
import { copyValue, equalValues, getOwn, type ValueObject } from '../meta/value.js'
import { zeroOf } from './decode-typed.js'
import { setNamespaceLabel } from './defaults.js'
import { ensureObject, has, keepFrom, numberAt, objectAt, objectsAt, textAt, textsAt } from './object-access.js'
import { addTolerations, newPodStatus, setPriority, taintNewNode } from './pod-status.js'
import { dropForType, keepAssigned, syncClusterIps } from './service-addresses.js'
import type { TypeTable } from './type-table.js'

export interface WriteContext {
  /** The moment of the write, as a Time. */
  readonly now: string
}

export type ForCreate = (object: ValueObject, context: WriteContext) => void
export type ForUpdate = (object: ValueObject, old: ValueObject, context: WriteContext) => void

export interface Strategy {
  /** What the admission plugins do that are always on. Runs on create, before `forCreate`. */
  readonly admit?: (object: ValueObject) => void
  readonly forCreate?: ForCreate
  readonly forUpdate?: ForUpdate
  /** A write to the object's own status; kinds without one have no such subresource. */
  readonly forStatus?: ForUpdate
  /** Runs last, once the name is certain. */
  readonly finish?: (object: ValueObject) => void
  /** A PUT creates what is not there. */
  readonly createOnUpdate?: boolean
  /** False: a PUT must say which resourceVersion it replaces. */
  readonly unconditionalUpdate?: boolean
  /** A delete answers with the object instead of a Status. */
  readonly deleteAnswersObject?: boolean
  /** It is marked as on its way out before it goes. */
  readonly terminates?: boolean
  /** Every request is answered with this warning. */
  readonly deprecationWarning?: string
}

/** The strategy of a kind. Kinds that are not in the table keep whatever the client says, but for their status. */
export function strategyOf(table: TypeTable, apiVersion: string, kind: string): Strategy {
  return STRATEGIES[`${apiVersion} ${kind}`]?.(table) ?? statusApart(table, apiVersion, kind)
}

// ---- parts

/** The generation is the server's to count; a client's is kept only when the object is new. */
const keepGeneration: ForUpdate = (object, old) => {
  keepFrom(ensureObject(object, 'metadata'), objectAt(old, 'metadata'), 'generation')
}

const startGeneration = (object: ValueObject): void => {
  ensureObject(object, 'metadata')['generation'] = 1
}

function countGeneration(object: ValueObject, old: ValueObject): void {
  ensureObject(object, 'metadata')['generation'] = numberAt(objectAt(old, 'metadata'), 'generation') + 1
}

const same = (object: ValueObject, old: ValueObject, field: string): boolean =>
  equalValues(getOwn(object, field) ?? null, getOwn(old, field) ?? null)

/** Status is written through its own path, and nothing else is. */
const keepStatus: ForUpdate = (object, old) => keepFrom(object, old, 'status')
const keepSpec: ForUpdate = (object, old) => keepFrom(object, old, 'spec')

function clearStatus(table: TypeTable, typeName: string): ForCreate {
  return object => {
    object['status'] = copyValue(zeroOf(table, typeName))
  }
}

const inTurn =
  (...steps: readonly ForUpdate[]): ForUpdate =>
  (object, old, context) => {
    for (const step of steps) step(object, old, context)
  }

/** For kinds that are not in the table: a status, if the kind has one, is not the client's to set. */
function statusApart(table: TypeTable, apiVersion: string, kind: string): Strategy {
  const type = table.typeOfKind(apiVersion, kind)
  const status = type === undefined ? undefined : table.type(type).byName.get('status')
  const hasSpec = type !== undefined && table.type(type).byName.has('spec')
  const resource = table.resources(apiVersion).find(({ kind: of, name }) => of === kind && !name.includes('/'))
  const written = table.resources(apiVersion).some(({ name }) => name === `${resource?.name}/status`)
  if (status === undefined || status.type.is !== 'type' || !written) return { forUpdate: keepGeneration }
  return {
    forCreate: clearStatus(table, status.type.name),
    forUpdate: inTurn(keepGeneration, keepStatus),
    forStatus: hasSpec ? inTurn(keepGeneration, keepSpec) : keepGeneration,
  }
}

// ---- kinds

const namespaces: Strategy = {
  forCreate: namespace => {
    const spec = ensureObject(namespace, 'spec')
    const finalizers = textsAt(spec, 'finalizers')
    if (!finalizers.includes('kubernetes')) spec['finalizers'] = [...finalizers, 'kubernetes']
    namespace['status'] = { phase: 'Active' }
  },
  forUpdate: inTurn(keepGeneration, keepStatus, (namespace, old) =>
    keepFrom(ensureObject(namespace, 'spec'), objectAt(old, 'spec'), 'finalizers'),
  ),
  forStatus: inTurn(keepGeneration, keepSpec),
  finish: setNamespaceLabel,
  deleteAnswersObject: true,
  terminates: true,
}

/** A write to the `finalize` subresource: the finalizers in the spec, and nothing of the status. */
export const namespaceForFinalize: ForUpdate = inTurn(keepGeneration, keepStatus)

const serviceAccounts: Strategy = {
  forCreate: nameSecretsOnly,
  forUpdate: inTurn(keepGeneration, nameSecretsOnly),
  deleteAnswersObject: true,
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

const leases: Strategy = {
  forCreate: lease => {
    for (const field of LEASE_ELECTION_FIELDS) delete objectAt(lease, 'spec')[field]
  },
  forUpdate: inTurn(keepGeneration, (lease, old) => {
    for (const field of LEASE_ELECTION_FIELDS) {
      if (!has(objectAt(old, 'spec'), field) && has(lease, 'spec')) delete objectAt(lease, 'spec')[field]
    }
  }),
  createOnUpdate: true,
  unconditionalUpdate: false,
}

const pods: Strategy = {
  admit: pod => {
    addTolerations(pod)
    setPriority(pod)
  },
  forCreate: (pod, { now }) => {
    startGeneration(pod)
    pod['status'] = newPodStatus(pod, now)
  },
  forUpdate: inTurn(keepGeneration, keepStatus, (pod, old) => {
    if (!same(pod, old, 'spec')) countGeneration(pod, old)
  }),
  forStatus: inTurn(keepGeneration, keepSpec, (pod, old) => {
    keepFrom(ensureObject(pod, 'metadata'), objectAt(old, 'metadata'), 'ownerReferences')
    keepFrom(ensureObject(pod, 'status'), objectAt(old, 'status'), 'qosClass')
  }),
  deleteAnswersObject: true,
}

const nodes: Strategy = {
  admit: taintNewNode,
  forUpdate: inTurn(keepGeneration, keepStatus),
  forStatus: inTurn(keepGeneration, keepSpec),
}

const deployments = (table: TypeTable): Strategy => {
  const clear = clearStatus(table, 'apps/v1.DeploymentStatus')
  return {
    forCreate: (deployment, context) => {
      startGeneration(deployment)
      clear(deployment, context)
    },
    forUpdate: inTurn(keepGeneration, keepStatus, (deployment, old) => {
      const unchanged =
        same(deployment, old, 'spec') &&
        same(objectAt(deployment, 'metadata'), objectAt(old, 'metadata'), 'annotations')
      if (!unchanged) countGeneration(deployment, old)
    }),
    forStatus: inTurn(keepGeneration, keepSpec, (deployment, old) =>
      keepFrom(ensureObject(deployment, 'metadata'), objectAt(old, 'metadata'), 'labels'),
    ),
  }
}

const services = (table: TypeTable): Strategy => {
  const clear = clearStatus(table, 'core/v1.ServiceStatus')
  return {
    forCreate: (service, context) => {
      clear(service, context)
      syncClusterIps(ensureObject(service, 'spec'), undefined)
    },
    forUpdate: inTurn(keepGeneration, keepStatus, (service, old, context) => {
      const spec = ensureObject(service, 'spec')
      const oldSpec = objectAt(old, 'spec')
      keepAssigned(spec, oldSpec)
      syncClusterIps(spec, oldSpec)
      dropForType(spec, oldSpec)
      // Nobody balances the load of a service that no longer asks for it.
      const before = textAt(oldSpec, 'type')
      if (before === 'LoadBalancer' && textAt(spec, 'type') !== before) clear(service, context)
    }),
    forStatus: inTurn(keepGeneration, keepSpec),
    createOnUpdate: true,
    deleteAnswersObject: true,
  }
}

const plain: Strategy = { forUpdate: keepGeneration }
const madeByUpdate: Strategy = { forUpdate: keepGeneration, createOnUpdate: true }

const STRATEGIES: Readonly<Record<string, ((table: TypeTable) => Strategy) | undefined>> = {
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
  'apps/v1 Deployment': deployments,
  'storagemigration.k8s.io/v1beta1 StorageVersionMigration': table => ({
    ...statusApart(table, 'storagemigration.k8s.io/v1beta1', 'StorageVersionMigration'),
    unconditionalUpdate: false,
  }),
  'rbac.authorization.k8s.io/v1 Role': () => madeByUpdate,
  'rbac.authorization.k8s.io/v1 ClusterRole': () => madeByUpdate,
  'rbac.authorization.k8s.io/v1 RoleBinding': () => madeByUpdate,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': () => madeByUpdate,
}
