// The garbage collector deletes objects whose owners are gone. One watch of the whole store finds the objects that have
// owner references or wait for their dependents. An event only puts an object's key into the queue; what to do is decided
// by the live objects, so that late or repeated events do no harm.

import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import {
  FOREGROUND_FINALIZER,
  metaOf,
  type ObjectMeta,
  ORPHAN_FINALIZER,
  type OwnerReference,
  withMeta,
} from '../../meta/object/object-meta.js'
import { startInformer } from '../../objects/informer.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Entry, Store, StoreEvent } from '../../storage/store.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { objectsAsStored } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'
import { createKeyReader, type ObjectRef } from '../common/key-reader.js'
import { createOwnershipGraph, isBlocking, isSameNode, type Node } from './ownership-graph.js'

/**
 * A new dependent is checked after this time, so that a client whose owner reference is wrong can still read what it has
 * written; kube-controller-manager is not faster. Dependents of owners that are deleted are not delayed.
 */
const NEW_DEPENDENT_DELAY_MS = 500
/** The kind of an owner may be served later. */
const UNKNOWN_KIND_RETRY_MS = 30_000

export interface CollectorOptions {
  readonly newDependentDelayMs?: number | undefined
}

export function startGarbageCollector(
  store: Store,
  context: ApiContext,
  registry: Registry,
  env: ControllerEnv,
  { newDependentDelayMs = NEW_DEPENDENT_DELAY_MS }: CollectorOptions = {},
): Controller {
  const objects = objectsAsStored(context, 'generic-garbage-collector')
  const graph = createOwnershipGraph()
  const queue = createControllerQueue('garbage_collector_attempt_to_delete', env, reconcile, 32)
  const locate = createKeyReader(registry)
  let isListed = false
  /** The keys of nodes that were read since the informer began anew. */
  let read = new Set<string>()
  const informer = startInformer(
    store,
    '/',
    {
      begin() {
        isListed = false
        read = new Set()
      },
      entry: onEntry,
      complete() {
        isListed = true
        // While the watch was interrupted, objects and owners may have gone without an event.
        const nodes = [...graph.all()]
        for (const { key, owners } of nodes) {
          if (read.has(key)) continue
          graph.remove(key)
          for (const { uid } of owners) enqueueOwner(uid)
        }
        for (const { key } of nodes) if (read.has(key)) queue.add(key)
      },
      event: onEvent,
    },
    env.log,
  )
  void whenRead(informer.started)

  function onEntry(entry: Entry): void {
    const before = graph.at(entry.key)
    const node = mayBeNode(entry.value) ? graph.put(entry.key, metaOf(decodeStored(entry))) : undefined
    if (node && !isListed) read.add(entry.key)
    if (!node) graph.remove(entry.key)
    else if (!before || !isSameNode(before, node)) enqueueChanged(node)
    if (!before) return
    // An owner that this object no longer blocks may now be deleted.
    const blocked = new Set(node?.owners.filter(isBlocking).map(({ uid }) => uid))
    for (const owner of before.owners) {
      if (isBlocking(owner) && !blocked.has(owner.uid)) enqueueOwner(owner.uid)
    }
  }

  function onEvent({ key, value, revision, previous }: StoreEvent): void {
    if (value) return onEntry({ key, value, revision })
    const node = graph.remove(key)
    if (node) enqueueAll(graph.dependentsOf(node.uid))
    else if (previous && mayHaveDependents(previous)) enqueueAll(graph.dependentsOf(uidIn(previous)))
    // An owner that waits for this object may now be deleted as well.
    if (!previous?.value.includes(OWNERS)) return undefined
    for (const { uid } of metaOf(decodeStored(previous)).ownerReferences ?? []) enqueueOwner(uid)
    return undefined
  }

  /** Few deleted objects have dependents; the rest need not be parsed. */
  const mayHaveDependents = ({ value }: Entry): boolean =>
    graph.hasOwners && uidsWithin(value).some(uid => graph.isOwner(uid))

  function enqueueChanged({ key, waitsFor }: Node): void {
    if (isListed && waitsFor === undefined && newDependentDelayMs > 0) queue.addLater(key, newDependentDelayMs)
    else queue.add(key)
  }

  function enqueueAll(nodes: readonly Node[]): void {
    for (const { key } of nodes) queue.add(key)
  }

  /** By its uid: the owner that waits may be in another namespace than the one that the reference leads to. */
  function enqueueOwner(uid: string): void {
    const owner = graph.waiting(uid)
    if (owner) queue.add(owner.key)
  }

  function kindOf({ apiVersion, kind }: OwnerReference): Kind | undefined {
    const groupVersion = parseGroupVersion(apiVersion)
    return groupVersion.ok ? registry.findKind(groupVersion.value.group, kind) : undefined
  }

  async function reconcile(key: string): Promise<void> {
    const node = graph.at(key)
    const ref = node && locate(key)
    if (!node || !ref) return
    const object = await objects.get(ref.kind, ref.namespace, ref.name)
    if (!object || metaOf(object).uid !== node.uid) return
    if (node.waitsFor === 'orphan') await orphanDependents(node, ref)
    else if (node.waitsFor === 'foreground') await deleteDependents(node, ref)
    else if (metaOf(object).deletionTimestamp === undefined) await deleteIfUnowned(node, ref, object)
  }

  async function orphanDependents(node: Node, ref: ObjectRef): Promise<void> {
    for (const dependent of graph.dependentsOf(node.uid)) {
      const dependentRef = locate(dependent.key)
      if (dependentRef) await dropOwners(dependentRef, new Set([node.uid]))
    }
    await dropFinalizer(ref, ORPHAN_FINALIZER)
  }

  /** Foreground deletion: dependents are deleted first; the owner waits for those with blockOwnerDeletion. */
  async function deleteDependents(node: Node, ref: ObjectRef): Promise<void> {
    // A dependent that is itself deleted in the foreground needs no push; in a circle of owners it would come back here.
    enqueueAll(graph.dependentsOf(node.uid).filter(({ waitsFor }) => waitsFor !== 'foreground'))
    if (!graph.isBlocked(node)) await dropFinalizer(ref, FOREGROUND_FINALIZER)
  }

  /** Deletes an object without a living owner; an object with one left loses the references to the others. */
  async function deleteIfUnowned(node: Node, ref: ObjectRef, object: ApiObject): Promise<void> {
    const absent = new Set<string>()
    let isOwnerWaiting = false
    let isOwned = false
    for (const owner of metaOf(object).ownerReferences ?? []) {
      const state = await stateOf(owner, ref)
      if (state === 'unknown') return queue.retryLater(node.key, UNKNOWN_KIND_RETRY_MS)
      if (state === 'exists') isOwned = true
      else absent.add(owner.uid)
      if (state === 'waits for dependents') isOwnerWaiting = true
    }
    if (isOwned) {
      if (absent.size > 0) await dropOwners(ref, absent)
      return
    }
    if (absent.size === 0) return
    const { finalizers = [] } = metaOf(object)
    const dependents = graph.dependentsOf(node.uid)
    // The owner and a dependent both wait for dependents: perhaps a circle, so that this object must not block its owner.
    if (isOwnerWaiting && dependents.some(({ waitsFor }) => waitsFor === 'foreground')) {
      await unblockOwners(ref, node.uid)
    }
    const propagationPolicy = finalizers.includes(ORPHAN_FINALIZER)
      ? 'Orphan'
      : finalizers.includes(FOREGROUND_FINALIZER) || (isOwnerWaiting && dependents.length > 0)
        ? 'Foreground'
        : 'Background'
    await objects.delete(ref.kind, ref.namespace, ref.name, { preconditions: { uid: node.uid }, propagationPolicy })
  }

  /** Reads the owner from the store: one that does not exist there is absent, whether or not it ever existed. */
  async function stateOf(owner: OwnerReference, dependent: ObjectRef): Promise<OwnerState> {
    const kind = kindOf(owner)
    // Objects of a kind that is not served may come back with it. A namespaced owner of a cluster-scoped object is invalid.
    if (!kind || (kind.namespaced && !dependent.kind.namespaced)) return 'unknown'
    const object = await objects.get(kind, kind.namespaced ? dependent.namespace : '', owner.name)
    if (!object || metaOf(object).uid !== owner.uid) return 'absent'
    const { deletionTimestamp, finalizers = [] } = metaOf(object)
    const isWaiting = deletionTimestamp !== undefined && finalizers.includes(FOREGROUND_FINALIZER)
    return isWaiting ? 'waits for dependents' : 'exists'
  }

  const dropOwners = ({ kind, namespace, name }: ObjectRef, uids: ReadonlySet<string>): Promise<void> =>
    objects.change(kind, namespace, name, old => {
      const { ownerReferences = [], ...rest } = metaOf(old)
      const kept = ownerReferences.filter(owner => !uids.has(owner.uid))
      if (kept.length === ownerReferences.length) return undefined
      return asObject(old, kept.length === 0 ? rest : { ...rest, ownerReferences: kept })
    })

  const unblockOwners = ({ kind, namespace, name }: ObjectRef, uid: string): Promise<void> =>
    objects.change(kind, namespace, name, old => {
      const { ownerReferences = [], ...rest } = metaOf(old)
      if (rest.uid !== uid || !ownerReferences.some(isBlocking)) return undefined
      return asObject(old, { ...rest, ownerReferences: ownerReferences.map(unblocked) })
    })

  const dropFinalizer = ({ kind, namespace, name }: ObjectRef, finalizer: string): Promise<void> =>
    objects.change(kind, namespace, name, old => {
      const { finalizers = [], ...rest } = metaOf(old)
      if (!finalizers.includes(finalizer)) return undefined
      const kept = finalizers.filter(each => each !== finalizer)
      return asObject(old, kept.length === 0 ? rest : { ...rest, finalizers: kept })
    })

  return {
    idle: () => queue.idle(),
    stop() {
      informer.stop()
      queue.stop()
    },
  }
}

type OwnerState = 'exists' | 'waits for dependents' | 'absent' | 'unknown'

const asObject = (object: ApiObject, meta: ObjectMeta): ApiObject => withMeta(object, meta) as ApiObject

const unblocked = (owner: OwnerReference): OwnerReference =>
  isBlocking(owner) ? { ...owner, blockOwnerDeletion: false } : owner

const OWNERS = Buffer.from('"ownerReferences":[')
const FINALIZERS = Buffer.from('"finalizers":[')
const DEPENDENTS_FIRST = [FOREGROUND_FINALIZER, ORPHAN_FINALIZER].map(name => Buffer.from(`"${name}"`))

/** Searches the bytes, so that most objects need not be parsed. */
const mayBeNode = (value: Buffer): boolean =>
  value.includes(OWNERS) || (value.includes(FINALIZERS) && DEPENDENTS_FIRST.some(mark => value.includes(mark)))

const uidIn = (entry: Entry): string => metaOf(decodeStored(entry)).uid ?? ''

const UID = Buffer.from('"uid":"')

/** Every value of a member `uid` in the object, its own among them. */
function uidsWithin(value: Buffer): string[] {
  const uids: string[] = []
  for (let at = value.indexOf(UID); at !== -1; at = value.indexOf(UID, at)) {
    at += UID.length
    uids.push(value.toString('utf8', at, value.indexOf('"', at)))
  }
  return uids
}
