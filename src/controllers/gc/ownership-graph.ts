// The graph of owner references. It holds only objects that have owners, and objects that are being deleted and wait for
// their dependents.
import type { ObjectMeta, OwnerReference } from '../../meta/object/object-meta.js'
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../meta/object/object-meta.js'

export interface Node {
  readonly key: string
  readonly uid: string
  readonly owners: readonly OwnerReference[]
  /** It is being deleted and waits until its dependents are deleted (foreground) or have lost the reference (orphan). */
  readonly waitsFor: 'foreground' | 'orphan' | undefined
}

export interface OwnershipGraph {
  /** Sets the object at a key. Returns its node, if it belongs into the graph. */
  put(key: string, meta: ObjectMeta): Node | undefined
  /** Removes the object at a key. */
  remove(key: string): Node | undefined
  at(key: string): Node | undefined
  all(): Iterable<Node>
  /** The node of that uid, if it is in foreground deletion. */
  waiting(uid: string): Node | undefined
  dependentsOf(uid: string): Node[]
  /** Whether any object has dependents. */
  readonly hasOwners: boolean
  /** Whether it has dependents. */
  isOwner(uid: string): boolean
  /**
   * Whether a node that waits for its dependents must go on waiting: some dependent blocks it and does not itself wait
   * for the node. Without the second condition a circle of owners would wait for ever.
   */
  isBlocked(node: Node): boolean
}

/** Whether nothing has changed that concerns the garbage collector. */
export const isSameNode = (a: Node, b: Node): boolean =>
  a.uid === b.uid &&
  a.waitsFor === b.waitsFor &&
  a.owners.length === b.owners.length &&
  a.owners.every((owner, i) => owner.uid === b.owners[i]!.uid && isBlocking(owner) === isBlocking(b.owners[i]!))

export const isBlocking = ({ blockOwnerDeletion }: OwnerReference): boolean => blockOwnerDeletion === true

export function createOwnershipGraph(): OwnershipGraph {
  const nodes = new Map<string, Node>()
  const dependents = new Map<string, Set<string>>()
  /** The nodes in foreground deletion, by uid. */
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

  /** The nodes that wait for a node, directly or through other nodes that wait. */
  function waitersFor(node: Node): ReadonlySet<Node> {
    const found = new Set<Node>()
    const addOwnersOf = ({ owners }: Node): void => {
      for (const owner of owners) {
        const waiter = isBlocking(owner) && waiting.get(owner.uid)
        if (waiter) found.add(waiter)
      }
    }
    addOwnersOf(node)
    // The loop also visits the nodes that it adds.
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
    all: () => nodes.values(),
    waiting: uid => waiting.get(uid),
    dependentsOf,
    get hasOwners() {
      return dependents.size > 0
    },
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
