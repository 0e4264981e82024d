// The stored RBAC objects, kept in memory by an informer of each kind, so that authorization reads nothing from the store.

import type { Logger } from '../../base/logger.js'
import type { Kind } from '../../kinds/kind.js'
import { startKindInformer } from '../../objects/informer.js'
import type { ObjectStores } from '../../objects/object-stores.js'
import { asBinding, asRole, type RbacObjects, type Role, type RoleBinding } from './rbac.js'

export interface RbacKinds {
  readonly clusterRoles: Kind
  readonly roles: Kind
  readonly clusterRoleBindings: Kind
  readonly roleBindings: Kind
}

/** Resolves when all stored objects are in memory. */
export async function startRbacStore(
  context: ObjectStores,
  kinds: RbacKinds,
  log?: Logger,
): Promise<RbacObjects & { stop(): void }> {
  const unchanged = (): void => {}
  const [clusterRoles, roles, clusterRoleBindings, roleBindings] = await Promise.all([
    startKindInformer<Role>(context, kinds.clusterRoles, asRole, unchanged, log),
    startKindInformer<Role>(context, kinds.roles, asRole, unchanged, log),
    startKindInformer<RoleBinding>(context, kinds.clusterRoleBindings, asBinding, unchanged, log),
    startKindInformer<RoleBinding>(context, kinds.roleBindings, asBinding, unchanged, log),
  ])
  return {
    clusterRole: name => clusterRoles.get('', name),
    role: (namespace, name) => roles.get(namespace, name),
    clusterRoleBindings: () => clusterRoleBindings.all(''),
    roleBindings: namespace => roleBindings.all(namespace),
    stop() {
      for (const informer of [clusterRoles, roles, clusterRoleBindings, roleBindings]) informer.stop()
    },
  }
}
