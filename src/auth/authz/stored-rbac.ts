// The RBAC objects of the store, kept in memory and up to date by a watch of each kind, so that a question is answered
// without reading anything.

import type { Kind } from '../../kinds/kind.js'
import { startKindInformer } from '../../objects/informer.js'
import type { ObjectStores } from '../../objects/object-stores.js'
import { aggregated } from './aggregation.js'
import { asBinding, asRole, type RbacObjects, type Role, type RoleBinding } from './rbac.js'

export interface RbacKinds {
  readonly clusterRoles: Kind
  readonly roles: Kind
  readonly clusterRoleBindings: Kind
  readonly roleBindings: Kind
}

/** Answers when everything that is stored is known. */
export async function startRbacStore(context: ObjectStores, kinds: RbacKinds): Promise<RbacObjects & { stop(): void }> {
  // Cluster roles with the rules of those that they are made of, until any of them changes.
  const whole = new Map<string, Role>()
  const [clusterRoles, roles, clusterRoleBindings, roleBindings] = await Promise.all([
    startKindInformer<Role>(context, kinds.clusterRoles, asRole, () => whole.clear()),
    startKindInformer<Role>(context, kinds.roles, asRole),
    startKindInformer<RoleBinding>(context, kinds.clusterRoleBindings, asBinding),
    startKindInformer<RoleBinding>(context, kinds.roleBindings, asBinding),
  ])
  return {
    clusterRole(name) {
      const known = whole.get(name)
      if (known) return known
      const role = clusterRoles.get('', name)
      if (!role) return undefined
      const made = aggregated(role, () => clusterRoles.all(''))
      whole.set(name, made)
      return made
    },
    role: (namespace, name) => roles.get(namespace, name),
    clusterRoleBindings: () => clusterRoleBindings.all(''),
    roleBindings: namespace => roleBindings.all(namespace),
    stop() {
      for (const informer of [clusterRoles, roles, clusterRoleBindings, roleBindings]) informer.stop()
    },
  }
}
