// Objects go with their owners. One watch of the whole store tells of every object that names owners or waits for its
// dependents; what follows from it is worked out against the live objects, so that a late or repeated event does no harm.

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
import { type Controller, type ControllerEnv, createControllerQueue } from '../common/controller.js'
import { createOwnershipGraph, isBlocking, type Node } from './ownership-graph.js'

/** Who writes an object may be about to write its owner. */
const UNSEEN_OWNER_GRACE_MS = 2000

export interface CollectorOptions {
  /** How long an object stays whose owner was never seen. */
  readonly unseenOwnerGraceMs?: number
}

export function startGarbageCollector(
  store: Store,
  context: ApiContext,
  registry: Registry,
  env: ControllerEnv,
  { unseenOwnerGraceMs: patienceMs = UNSEEN_OWNER_GRACE_MS }: CollectorOptions = {},
): Controller {
  const objects = objectsAsStored(context, 'generic-garbage-collector')
  const graph = createOwnershipGraph()
  let isStopped = false
  const queue = createControllerQueue('garbage_collector_attempt_to_delete', env, settle, 32)
  /** Keys of objects whose owner was seen to go. */
  const bereft = new Set<string>()
  /** Until when others stay, by key. */
  const staysUntil = new Map<string, number>()
  const placeOf = createKeyReader(registry)
  const following = startInformer(store, '/', { entry: take, event: note })
  following.started.catch((error: unknown) => {
    if (!isStopped) env.log.warn('the garbage collector could not read the store and tries again', { error })
  })

  function take(entry: Entry): void {
    const before = graph.at(entry.key)
    const node = mattersToUs(entry.value) ? graph.put(entry.key, metaOf(decodeStored(entry))) : undefined
    if (node) queue.add(node.key)
    else leave(entry.key)
    if (!before) return
    // An owner that this one no longer blocks may now go.
    const blocked = new Set(node?.owners.filter(isBlocking).map(({ uid }) => uid))
    for (const owner of before.owners) {
      if (isBlocking(owner) && !blocked.has(owner.uid)) wakeOwner(entry.key, owner)
    }
  }

  function note({ key, value, revision, previous }: StoreEvent): void {
    if (value) return take({ key, value, revision })
    const node = leave(key)
    if (node) bereave(graph.dependentsOf(node.uid))
    else if (previous && mayHaveDependents(previous)) bereave(graph.dependentsOf(uidIn(previous)))
    // An owner that waits for this one may now go as well.
    if (!previous || !mattersToUs(previous.value)) return undefined
    for (const owner of metaOf(decodeStored(previous)).ownerReferences ?? []) wakeOwner(key, owner)
    return undefined
  }

  /** Of a million objects that go, few have dependents: most need not be parsed to know that. */
  const mayHaveDependents = ({ value }: Entry): boolean => uidsWithin(value).some(uid => graph.isOwner(uid))

  function leave(key: string): Node | undefined {
    staysUntil.delete(key)
    return graph.remove(key)
  }

  function bereave(dependents: readonly Node[]): void {
    for (const { key } of dependents) {
      bereft.add(key)
      queue.add(key)
    }
  }

  function wakeOwner(dependent: string, owner: OwnerReference): void {
    const place = placeOf(dependent)
    const kind = kindOf(owner)
    if (!place || !kind) return
    queue.add(`${kind.keyPrefix}${kind.namespaced ? `${place.namespace}/` : ''}${owner.name}`)
  }

  function kindOf({ apiVersion, kind }: OwnerReference): Kind | undefined {
    const groupVersion = parseGroupVersion(apiVersion)
    return groupVersion.ok ? registry.findKind(groupVersion.value.group, kind) : undefined
  }

  /** Does what is to be done about the object at a key. */
  async function settle(key: string): Promise<void> {
    const isBereft = bereft.delete(key)
    const node = graph.at(key)
    const place = node && placeOf(key)
    if (!node || !place) return
    const object = await objects.get(place.kind, place.namespace, place.name)
    if (!object || metaOf(object).uid !== node.uid) return
    if (node.waitsFor === 'orphan') await releaseDependents(node, place)
    else if (node.waitsFor === 'foreground') await deleteDependents(node, place)
    else if (metaOf(object).deletionTimestamp === undefined) await judge(node, place, object, isBereft)
  }

  async function releaseDependents(node: Node, place: Place): Promise<void> {
    for (const dependent of graph.dependentsOf(node.uid)) {
      const at = placeOf(dependent.key)
      if (at) await dropOwners(at, new Set([node.uid]))
    }
    await dropFinalizer(place, ORPHAN_FINALIZER)
  }

  /** Dependents go first; those that do not block are not waited for. */
  async function deleteDependents(node: Node, place: Place): Promise<void> {
    // One that waits for its own dependents is on its way. It would look after them again, and in a circle after us.
    bereave(graph.dependentsOf(node.uid).filter(({ waitsFor }) => waitsFor !== 'foreground'))
    if (!graph.isBlocked(node)) await dropFinalizer(place, FOREGROUND_FINALIZER)
  }

  /** An object whose owners are all gone goes too; one that has another owner left loses the references to the others. */
  async function judge(node: Node, place: Place, object: ApiObject, isBereft: boolean): Promise<void> {
    const gone = new Set<string>()
    let isWaitedFor = false
    let isOwned = false
    for (const owner of metaOf(object).ownerReferences ?? []) {
      const state = await stateOf(owner, place)
      if (state === 'unknown') return
      if (state === 'there') isOwned = true
      else gone.add(owner.uid)
      if (state === 'waiting') isWaitedFor = true
    }
    if (isOwned) {
      if (gone.size > 0) await dropOwners(place, gone)
      return
    }
    if (gone.size === 0) return
    if (!isBereft && isWithinGrace(node.key)) return
    const { finalizers = [] } = metaOf(object)
    const dependents = graph.dependentsOf(node.uid)
    // Its owner and its dependent both wait: perhaps a circle, which is opened here before it closes.
    if (isWaitedFor && dependents.some(({ waitsFor }) => waitsFor === 'foreground'))
      await unblockOwners(place, node.uid)
    const propagationPolicy = finalizers.includes(ORPHAN_FINALIZER)
      ? 'Orphan'
      : finalizers.includes(FOREGROUND_FINALIZER) || (isWaitedFor && dependents.length > 0)
        ? 'Foreground'
        : 'Background'
    await objects.delete(place.kind, place.namespace, place.name, {
      preconditions: { uid: node.uid },
      propagationPolicy,
    })
  }

  /** Whether the object stays for now: it is looked at again when its time is over. */
  function isWithinGrace(key: string): boolean {
    const now = performance.now()
    const until = staysUntil.get(key)
    if (until === undefined && patienceMs > 0) {
      staysUntil.set(key, now + patienceMs)
      queue.addLater(key, patienceMs + 1)
      return true
    }
    if (until !== undefined && now < until) return true
    staysUntil.delete(key)
    return false
  }

  async function stateOf(owner: OwnerReference, place: Place): Promise<'there' | 'waiting' | 'gone' | 'unknown'> {
    const kind = kindOf(owner)
    // A kind that nobody serves may come back with its objects.
    if (!kind || (kind.namespaced && !place.kind.namespaced)) return 'unknown'
    const object = await objects.get(kind, kind.namespaced ? place.namespace : '', owner.name)
    if (!object || metaOf(object).uid !== owner.uid) return 'gone'
    const { deletionTimestamp, finalizers = [] } = metaOf(object)
    return deletionTimestamp !== undefined && finalizers.includes(FOREGROUND_FINALIZER) ? 'waiting' : 'there'
  }

  const dropOwners = ({ kind, namespace, name }: Place, uids: ReadonlySet<string>): Promise<void> =>
    objects.change(kind, namespace, name, old => {
      const { ownerReferences = [], ...rest } = metaOf(old)
      const kept = ownerReferences.filter(owner => !uids.has(owner.uid))
      if (kept.length === ownerReferences.length) return undefined
      return asObject(old, kept.length === 0 ? rest : { ...rest, ownerReferences: kept })
    })

  const unblockOwners = ({ kind, namespace, name }: Place, uid: string): Promise<void> =>
    objects.change(kind, namespace, name, old => {
      const { ownerReferences = [], ...rest } = metaOf(old)
      if (rest.uid !== uid || !ownerReferences.some(isBlocking)) return undefined
      return asObject(old, { ...rest, ownerReferences: ownerReferences.map(unblocked) })
    })

  const dropFinalizer = ({ kind, namespace, name }: Place, finalizer: string): Promise<void> =>
    objects.change(kind, namespace, name, old => {
      const { finalizers = [], ...rest } = metaOf(old)
      if (!finalizers.includes(finalizer)) return undefined
      const kept = finalizers.filter(each => each !== finalizer)
      return asObject(old, kept.length === 0 ? rest : { ...rest, finalizers: kept })
    })

  return {
    idle: () => queue.idle(),
    stop() {
      isStopped = true
      following.stop()
      queue.stop()
    },
  }
}

const asObject = (object: ApiObject, meta: ObjectMeta): ApiObject => withMeta(object, meta) as ApiObject

const unblocked = (owner: OwnerReference): OwnerReference =>
  isBlocking(owner) ? { ...owner, blockOwnerDeletion: false } : owner

const MARKS = ['"ownerReferences":[', `"${FOREGROUND_FINALIZER}"`, `"${ORPHAN_FINALIZER}"`].map(text =>
  Buffer.from(text),
)

/** A quick look at the bytes, so that most objects need not be parsed. */
const mattersToUs = (value: Buffer): boolean => MARKS.some(mark => value.includes(mark))

const uidIn = (entry: Entry): string => metaOf(decodeStored(entry)).uid ?? ''

const UID = Buffer.from('"uid":"')

/** What is called a uid anywhere in an object, its own among them. */
function uidsWithin(value: Buffer): string[] {
  const uids: string[] = []
  for (let at = value.indexOf(UID); at !== -1; at = value.indexOf(UID, at)) {
    at += UID.length
    uids.push(value.toString('utf8', at, value.indexOf('"', at)))
  }
  return uids
}

interface Place {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
}

/** Which object a key of the store is. */
function createKeyReader(registry: Registry): (key: string) => Place | undefined {
  let kinds = new Map<string, Kind>()
  let generation = -1
  return key => {
    if (generation !== registry.generation) {
      kinds = new Map([...registry.all()].map(kind => [kind.keyPrefix, kind]))
      generation = registry.generation
    }
    const first = key.indexOf('/', 1)
    const second = key.indexOf('/', first + 1)
    const prefix = [key.slice(0, first + 1), key.slice(0, second + 1)].find(each => kinds.has(each))
    if (prefix === undefined) return undefined
    const kind = kinds.get(prefix)!
    const rest = key.slice(prefix.length)
    const slash = rest.indexOf('/')
    return slash === -1
      ? { kind, namespace: '', name: rest }
      : { kind, namespace: rest.slice(0, slash), name: rest.slice(slash + 1) }
  }
}
