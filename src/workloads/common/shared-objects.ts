// The objects of a kind as all controllers of workloads share them: one informer, each object parsed once, and indexes
// by owner, node and namespace. What a controller writes is put in at once, so that it never decides by a state from
// before its own writes; events that come later and are older are ignored.
import type { Logger } from '../../base/logger.js'
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { startInformer } from '../../objects/informer.js'
import { type ObjectEntry, type ObjectKey, objectKeyOf } from '../../objects/object-store.js'
import type { ObjectStores } from '../../objects/object-stores.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { WorkloadObject } from '../api/objects.js'
import { controllerOf } from './controller-of.js'

/** Called after each change: the object as it is now, and as it was before. */
export type ChangeHandler<T> = (now: T | undefined, before: T | undefined) => void

export interface SharedObjects<T extends WorkloadObject> {
  readonly kind: Kind
  get(namespace: string, name: string): T | undefined
  /** Of one namespace; of all if it is left out. */
  all(namespace?: string): Iterable<T>
  /** Those whose controller has this uid. */
  ownedBy(uid: string): readonly T[]
  /** Those of a namespace that have no controller. */
  orphans(namespace: string): readonly T[]
  /** Those on a node, for pods. */
  onNode(node: string): readonly T[]
  readonly size: number
  /** How many changes there were. */
  readonly changes: number
  /** Calls the handler for all objects that are there, and for each change. The result ends that. */
  follow(handler: ChangeHandler<T>): () => void
  /** Takes in what was written, before the informer sees it. */
  put(object: ApiObject): void
  /** Takes out what was deleted. */
  remove(key: ObjectKey): void
  readonly started: Promise<void>
  stop(): void
}

type Index<T> = Map<string, Map<string, T>>

export function startSharedObjects<T extends WorkloadObject>(
  { objectStore }: Pick<ObjectStores, 'objectStore'>,
  kind: Kind,
  log: Logger,
): SharedObjects<T> {
  const objects = new Map<string, T>()
  const byNamespace: Index<T> = new Map()
  const byOwner: Index<T> = new Map()
  const orphansOf: Index<T> = new Map()
  const byNode: Index<T> = new Map()
  const handlers = new Set<ChangeHandler<T>>()
  /** Removed here, at a revision that is not known; older events of them may still come. */
  const removed = new Set<string>()
  /** While the store is read again: the keys that were read. */
  let read: Set<string> | undefined
  let changes = 0

  const indexesOf = (object: T): [Index<T>, string][] => {
    const { namespace = '' } = object.metadata
    const owner = controllerOf(object)
    const node = (object as { readonly spec?: { readonly nodeName?: string } }).spec?.nodeName
    return [
      [byNamespace, namespace],
      owner === undefined ? [orphansOf, namespace] : [byOwner, owner.uid],
      ...(node ? [[byNode, node] as [Index<T>, string]] : []),
    ]
  }

  function set(key: string, now: T | undefined): void {
    const before = objects.get(key)
    if (before === now) return
    changes++
    if (before) {
      objects.delete(key)
      for (const [index, value] of indexesOf(before)) {
        const found = index.get(value)
        found?.delete(key)
        if (found?.size === 0) index.delete(value)
      }
    }
    if (now) {
      objects.set(key, now)
      for (const [index, value] of indexesOf(now)) {
        let found = index.get(value)
        if (!found) index.set(value, (found = new Map()))
        found.set(key, now)
      }
    }
    for (const handler of handlers) handler(now, before)
  }

  const keyOf = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`)
  const keyAt = (stored: string): string => {
    const { namespace, name } = objectKeyOf(kind, stored)
    return keyOf(namespace, name)
  }

  function takeIn(key: string, object: ApiObject): void {
    const now = object as unknown as T
    const before = objects.get(key)
    if (before && Number(before.metadata.resourceVersion) >= Number(now.metadata.resourceVersion)) return
    set(key, now)
  }

  const informer = startInformer(
    objectStore(kind).cache,
    kind.keyPrefix,
    {
      begin: () => void (read = new Set()),
      entry(entry: ObjectEntry) {
        const key = keyAt(entry.key)
        read?.add(key)
        removed.delete(key)
        takeIn(key, decodeStored(entry))
      },
      complete() {
        for (const key of objects.keys()) if (!read?.has(key)) set(key, undefined)
        read = undefined
      },
      event({ key: stored, entry }) {
        const key = keyAt(stored)
        if (!entry) {
          removed.delete(key)
          set(key, undefined)
        } else if (!removed.has(key)) takeIn(key, decodeStored(entry))
      },
    },
    log,
  )

  const valuesOf = (index: Index<T>, key: string): readonly T[] => [...(index.get(key)?.values() ?? [])]
  return {
    kind,
    get: (namespace, name) => objects.get(keyOf(namespace, name)),
    all: namespace => (namespace === undefined ? objects.values() : (byNamespace.get(namespace)?.values() ?? [])),
    ownedBy: uid => valuesOf(byOwner, uid),
    orphans: namespace => valuesOf(orphansOf, namespace),
    onNode: node => valuesOf(byNode, node),
    get size() {
      return objects.size
    },
    get changes() {
      return changes
    },
    follow(handler) {
      for (const object of objects.values()) handler(object, undefined)
      handlers.add(handler)
      return () => void handlers.delete(handler)
    },
    put(object) {
      const { namespace = '', name } = (object as unknown as T).metadata
      const key = keyOf(namespace, name)
      removed.delete(key)
      takeIn(key, object)
    },
    remove({ namespace, name }) {
      const key = keyOf(namespace, name)
      if (!objects.has(key)) return
      removed.add(key)
      set(key, undefined)
    },
    started: informer.started,
    stop: () => informer.stop(),
  }
}
