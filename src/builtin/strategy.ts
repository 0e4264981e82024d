// What a write sets, keeps and clears for each built-in kind, whatever the client says: plain functions in a table.
// They change the object they are given, and never the old one.

import { has, objectAt } from '../meta/values/access.js'
import type { TypeTable } from '../types/type-table.js'
import { type BuiltinStrategy, counted, inTurn, keepGeneration, startGeneration } from './common/strategies.js'
import { STORAGE_STRATEGIES } from './storage-strategies.js'

// ---- kinds

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

const plain: BuiltinStrategy = { prepareForUpdate: keepGeneration }
const madeByUpdate: BuiltinStrategy = { prepareForUpdate: keepGeneration, allowCreateOnUpdate: true }

export const STRATEGIES: Readonly<Record<string, ((table: TypeTable) => BuiltinStrategy) | undefined>> = {
  'events.k8s.io/v1 Event': () => madeByUpdate,
  'coordination.k8s.io/v1 Lease': () => leases,
  'node.k8s.io/v1 RuntimeClass': () => ({ ...madeByUpdate, allowUnconditionalUpdate: false }),
  'scheduling.k8s.io/v1 PriorityClass': () => ({ ...plain, prepareForCreate: startGeneration }),
  ...STORAGE_STRATEGIES,
  'policy/v1 PodDisruptionBudget': counted('policy/v1.PodDisruptionBudgetStatus', { allowUnconditionalUpdate: false }),
  'rbac.authorization.k8s.io/v1 Role': () => madeByUpdate,
  'rbac.authorization.k8s.io/v1 ClusterRole': () => madeByUpdate,
  'rbac.authorization.k8s.io/v1 RoleBinding': () => madeByUpdate,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': () => madeByUpdate,
}
