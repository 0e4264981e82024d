// Who owns whom, as far as the garbage collector must know: objects that name owners, and objects on their way out that
// wait for their dependents. Everything else is left out, so that the graph is as small as the use of owners.
import type { ObjectMeta, OwnerReference } from '../../meta/object/object-meta.js'
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../meta/object/object-meta.js'

export interface Node {
  readonly key: string
  readonly uid: string
  readonly owners: readonly OwnerReference[]
  /** It is to go, and waits until its dependents have gone, or have been let go. */
  readonly waitsFor: 'foreground' | 'orphan' | undefined
}

export interface OwnershipGraph {
  /** Takes in what stands at a key now. Answers the node, if the object matters. */
  put(key: string, meta: ObjectMeta): Node | undefined
  /** Forgets what stood at a key. */
  remove(key: string): Node | undefined
  at(key: string): Node | undefined
  dependentsOf(uid: string): Node[]
  /** Whether it has dependents. */
  isOwner(uid: string): boolean
  /**
   * Whether a node that waits for its dependents must wait on: for one that blocks it and does not itself wait for the
   * node. In a circle where each waits for the next, nobody would ever go.
   */
  isBlocked(node: Node): boolean
}

export const isBlocking = ({ blockOwnerDeletion }: OwnerReference): boolean => blockOwnerDeletion === true

export function createOwnershipGraph(): OwnershipGraph {
  const nodes = new Map<string, Node>()
  const dependents = new Map<string, Set<string>>()
  /** Those that wait for their dependents to go, by uid. */
  const waiting = new Map<string, Node>()

  function remove(key: string): Node | undefined {
    const node = nodes.get(key)
    if (!node) return undefined
    nodes.delete(key)
    waiting.delete(node.uid)
    for (const { uid } of node.owners) {
      const keys = dependents.get(uid)
      if (keys?.delete(key) && keys.size === 0) dependents.delete(uid)
    }
    return node
  }

  const dependentsOf = (uid: string): Node[] => [...(dependents.get(uid) ?? [])].map(key => nodes.get(key)!)

  /** Those that wait for a node, or for one that waits for it. */
  function waitersFor(node: Node): ReadonlySet<Node> {
    const found = new Set<Node>()
    const addOwnersOf = ({ owners }: Node): void => {
      for (const owner of owners) {
        const waiter = isBlocking(owner) && waiting.get(owner.uid)
        if (waiter) found.add(waiter)
      }
    }
    addOwnersOf(node)
    // The loop also meets what it adds.
    for (const waiter of found) addOwnersOf(waiter)
    return found
  }

  return {
    put(key, meta) {
      remove(key)
      const { uid = '', ownerReferences: owners = [], finalizers = [], deletionTimestamp } = meta
      const isTerminating = deletionTimestamp !== undefined
      const waitsFor =
        isTerminating && finalizers.includes(FOREGROUND_FINALIZER)
          ? 'foreground'
          : isTerminating && finalizers.includes(ORPHAN_FINALIZER)
            ? 'orphan'
            : undefined
      if (owners.length === 0 && !waitsFor) return undefined
      const node: Node = { key, uid, owners, waitsFor }
      nodes.set(key, node)
      if (waitsFor === 'foreground') waiting.set(uid, node)
      for (const owner of owners) {
        const keys = dependents.get(owner.uid)
        if (keys) keys.add(key)
        else dependents.set(owner.uid, new Set([key]))
      }
      return node
    },
    remove,
    at: key => nodes.get(key),
    dependentsOf,
    isOwner: uid => dependents.has(uid),
    isBlocked(node) {
      const waiters = waitersFor(node)
      return dependentsOf(node.uid).some(
        dependent =>
          !waiters.has(dependent) && dependent.owners.some(owner => owner.uid === node.uid && isBlocking(owner)),
      )
    },
  }
}
