// What objects of the built-in kinds get where their clients say nothing. First come the facts of the type table,
// then the rules of the kind, as a table from kind to function. An object is filled in in place; it comes out in the
// order of its type when it is printed.

import { ensureObject, objectsAt, setDefault, stringAt } from '../meta/values/access.js'
import { type ValueObject } from '../meta/values/value.js'
import { STORAGE_DEFAULTS } from './storage-defaults.js'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

export const DEFAULTS: Readonly<Record<string, ((object: ValueObject) => void) | undefined>> = {
  'scheduling.k8s.io/v1 PriorityClass': made => setDefault(made, 'preemptionPolicy', 'PreemptLowerPriority', false),
  ...STORAGE_DEFAULTS,
  'rbac.authorization.k8s.io/v1 RoleBinding': defaultBinding,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': defaultBinding,
}

function defaultBinding(binding: ValueObject): void {
  setDefault(ensureObject(binding, 'roleRef'), 'apiGroup', RBAC_GROUP)
  for (const subject of objectsAt(binding, 'subjects')) {
    const kind = stringAt(subject, 'kind')
    if (kind === 'User' || kind === 'Group') setDefault(subject, 'apiGroup', RBAC_GROUP)
  }
}
