// The RBAC objects of the store, kept in memory and up to date by a watch of each kind, so that a question is answered
// without reading anything.

import type { Kind } from '../../kinds/kind.js'
import type { Value } from '../../meta/values/value.js'
import { startInformer } from '../../objects/informer.js'
import type { ObjectStores } from '../../objects/object-stores.js'
import { decodeStored } from '../../objects/stored-object.js'
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
      for (const followed of [clusterRoles, roles, clusterRoleBindings, roleBindings]) followed.stop()
    },
  }
}

interface Followed<T> {
  get(namespace: string, name: string): T | undefined
  all(namespace: string): Iterable<T>
  stop(): void
}

/** All objects of a kind by namespace and name. */
async function startKindInformer<T>(
  context: ObjectStores,
  kind: Kind,
  read: (object: Value) => T,
  changed: () => void = () => {},
): Promise<Followed<T>> {
  let known = new Map<string, Map<string, T>>()
  let fresh = known

  function put(to: Map<string, Map<string, T>>, key: string, value: Buffer | undefined): void {
    const [namespace, name] = placeOf(kind, key)
    let there = to.get(namespace)
    if (!there) to.set(namespace, (there = new Map()))
    if (value) there.set(name, read(decodeStored({ key, value, revision: 0 })))
    else there.delete(name)
  }

  const following = startInformer(context.objectStore(kind).cache, kind.keyPrefix, {
    begin: () => void (fresh = new Map()),
    entry: ({ key, value }) => put(fresh, key, value),
    // Until all is known again, what was known before counts.
    complete() {
      known = fresh
      changed()
    },
    event({ key, value }) {
      put(known, key, value)
      changed()
    },
  })
  await following.started
  return {
    get: (namespace, name) => known.get(namespace)?.get(name),
    all: namespace => known.get(namespace)?.values() ?? [],
    stop: () => following.stop(),
  }
}

function placeOf(kind: Kind, key: string): [namespace: string, name: string] {
  const [first = '', second] = key.slice(kind.keyPrefix.length).split('/')
  return second === undefined ? ['', first] : [first, second]
}
