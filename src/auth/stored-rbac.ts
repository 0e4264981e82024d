// The RBAC objects of the store, kept in memory and up to date by a watch of each kind, so that a question is answered
// without reading anything.
import type { Kind } from '../kinds/kind.js'
import { folderOf } from '../resources/kind-store.js'
import type { ResourceContext } from '../resources/resource-context.js'
import { decodeStored } from '../resources/stored-object.js'
import { asBinding, asRole, type RbacObjects, type Role, type RoleBinding } from './rbac.js'

export interface RbacKinds {
  readonly clusterRoles: Kind
  readonly roles: Kind
  readonly clusterRoleBindings: Kind
  readonly roleBindings: Kind
}

/** Answers when everything that is stored is known. */
export async function followRbac(context: ResourceContext, kinds: RbacKinds): Promise<RbacObjects & { stop(): void }> {
  const [clusterRoles, roles, clusterRoleBindings, roleBindings] = await Promise.all([
    follow<Role>(context, kinds.clusterRoles, asRole),
    follow<Role>(context, kinds.roles, asRole),
    follow<RoleBinding>(context, kinds.clusterRoleBindings, asBinding),
    follow<RoleBinding>(context, kinds.roleBindings, asBinding),
  ])
  return {
    clusterRole: name => clusterRoles.get('', name),
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

const RETRY_MS = 200

/** All objects of a kind by namespace and name. When the watch is interrupted, everything is read anew. */
async function follow<T>(context: ResourceContext, kind: Kind, read: (object: never) => T): Promise<Followed<T>> {
  const { cache } = context.storeOf(kind)
  let known = new Map<string, Map<string, T>>()
  let stopped = false
  let stopWatch = () => {}

  const placeOf = (key: string): [string, string] => {
    const [first = '', second] = key.slice(kind.folder.length).split('/')
    return second === undefined ? ['', first] : [first, second]
  }

  function put(to: Map<string, Map<string, T>>, key: string, value: Buffer | undefined): void {
    const [namespace, name] = placeOf(key)
    let there = to.get(namespace)
    if (!there) to.set(namespace, (there = new Map()))
    if (value) there.set(name, read(decodeStored({ key, value, revision: 0 }) as never))
    else there.delete(name)
  }

  async function start(): Promise<void> {
    const page = await cache.range(folderOf(kind, ''))
    const fresh = new Map<string, Map<string, T>>()
    for (const { key, value } of page.entries) put(fresh, key, value)
    known = fresh
    if (stopped) return
    const watch = cache.watch(folderOf(kind, ''), page.revision, {
      event: ({ key, value }) => put(known, key, value),
      end() {
        if (!stopped) setTimeout(restart, RETRY_MS).unref()
      },
    })
    stopWatch = () => watch.close()
  }

  function restart(): void {
    start().catch(() => {
      if (!stopped) setTimeout(restart, RETRY_MS).unref()
    })
  }

  await start()
  return {
    get: (namespace, name) => known.get(namespace)?.get(name),
    all: namespace => known.get(namespace)?.values() ?? [],
    stop() {
      stopped = true
      stopWatch()
    },
  }
}
