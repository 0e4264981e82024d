// delete: an object goes at once, or it is marked and goes when nothing holds it any more.

import { throwIfAborted } from '../../base/cancellation.js'
import { groupKindOf, resourceOf } from '../../kinds/kind-names.js'
import { modifiedMeanwhile, notFound, success } from '../../meta/errors/status.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import {
  FOREGROUND_FINALIZER,
  metaForDeletion,
  metaForSoonerDeletion,
  metaOf,
  type ObjectMeta,
  ORPHAN_FINALIZER,
} from '../../meta/object/object-meta.js'
import {
  type DeleteOptions,
  failedBeforeTerminating,
  failedPrecondition,
  type PropagationPolicy,
} from '../../meta/options/write-options.js'
import type { ObjectEntry } from '../../objects/object-store.js'
import { asWritten, readEntry, viewValue } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import { encodeStored } from '../../objects/stored-object.js'
import type { ResourceRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import { type ApiContext } from '../api-context.js'
import type { ObjectResult, StatusResult } from '../result.js'
import { deleteUnreadable } from './unsafe-delete.js'
import { ATTEMPTS, isUnchanged } from './update.js'

export async function deleteObject(
  context: ApiContext,
  request: ResourceRequest<DeleteOptions>,
): Promise<ObjectResult | StatusResult> {
  const { target, options } = request
  if (options.ignoreStoreReadError) return deleteUnreadable(context, request)
  const { kind } = target
  const { object, isGone } = await remove(context, request)
  const { warning } = kind.traits.defaultPropagation ?? {}
  if (warning !== undefined && policyOf(options) === undefined) request.warn(warning)
  if (isGone && !kind.traits.returnsDeletedObject) {
    const { name = '', uid = '' } = metaOf(object)
    const details = { name, group: kind.group, kind: kind.names.plural, uid }
    return { type: 'status', status: 200, body: success(details) }
  }
  // Who asked for dependents to go as well, in the old way, is told that it is not over yet.
  const status = !isGone && options.orphanDependents === false ? 202 : 200
  return { type: 'object', status, versioned: target, object: viewValue(object) }
}

export interface Removed {
  /** As it was last, or as it waits to go. */
  readonly object: ApiObject
  readonly isGone: boolean
}

/** `seen`: the entry of the object, where it has just been read. */
export async function remove(
  context: ApiContext,
  request: ResourceRequest<DeleteOptions>,
  seen?: ObjectEntry,
): Promise<Removed> {
  const { target, options } = request
  const { kind, version, namespace, name } = target
  const store = context.objectStore(kind)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    throwIfAborted(request)
    const entry = attempt === 1 && seen ? seen : await asStatus(0, () => store.get(namespace, name))
    if (!entry) break
    const old = await readEntry(target, entry, request)
    checkPreconditions(target, old, options)
    const grace = gracePeriod(target, old, options)
    // What has its time already may be given less, and nothing else.
    if (grace === 'as before') return { object: old, isGone: false }
    await context.validate({ operation: 'DELETE', request, object: undefined, old })

    const wished = setMeta(old, withPolicy(metaOf(old), wishFor(target, metaOf(old), options)))
    if (grace === undefined && !version.strategy.blocksDeletion(wished)) {
      if (options.dryRun) return { object: old, isGone: true }
      throwIfAborted(request)
      const removed = await asStatus(0, () => store.delete(namespace, name, entry.revision))
      if (removed === false) continue
      await kind.allocation?.release(old)
      return { object: asWritten(kind, old, String(removed)), isGone: true }
    }
    const isMarked = metaOf(old).deletionTimestamp !== undefined
    const meta =
      isMarked && grace !== undefined
        ? metaForSoonerDeletion(metaOf(wished), grace)
        : metaForDeletion(metaOf(wished), context.now(), grace)
    const marked = setMeta(wished, meta)
    const waiting = isMarked ? marked : version.strategy.prepareForDelete(marked)
    const isHeld = version.strategy.blocksDeletion(waiting)
    const stored = await kind.convert(waiting, kind.storedAs, request)
    const bytes = encodeStored(stored, kind.traits.sortedKeys)
    if (options.dryRun || isUnchanged(stored, bytes, entry)) return { object: waiting, isGone: !isHeld }
    throwIfAborted(request)
    const marking = await asStatus(0, () => store.update(stored, entry.revision, bytes))
    if (marking === false) continue
    if (isHeld) return { object: asWritten(kind, waiting, String(marking.revision)), isGone: false }
    // Those who watch have seen it marked; it has no time to wait for.
    const removed = await asStatus(0, () => store.delete(namespace, name, marking.revision))
    if (removed === false) continue
    await kind.allocation?.release(waiting)
    return { object: asWritten(kind, waiting, String(removed)), isGone: true }
  }
  if (await asStatus(0, () => store.get(namespace, name))) throw modifiedMeanwhile(resourceOf(kind), name)
  throw notFound(resourceOf(kind), name)
}

function checkPreconditions({ kind }: Target, old: ApiObject, { preconditions }: DeleteOptions): void {
  if (!preconditions) return
  const failed = kind.traits.hasTerminatingPhase
    ? failedBeforeTerminating(preconditions, metaOf(old), resourceOf(kind))
    : failedPrecondition(preconditions, metaOf(old), groupKindOf(kind))
  if (failed) throw failed
}

/** The seconds that it has from now on; none at all where its kind knows of no such time, or where it is over. */
function gracePeriod(
  { version }: Target,
  old: ApiObject,
  { gracePeriodSeconds: requested }: DeleteOptions,
): number | 'as before' | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: given = 0 } = metaOf(old)
  if (!version.strategy.gracePeriod) return undefined
  if (deletionTimestamp === undefined) return version.strategy.gracePeriod(old, requested)
  if (given === 0) return undefined
  const seconds = requested !== undefined && requested < 0 ? 1 : requested
  return seconds === undefined || seconds >= given ? 'as before' : seconds
}

const policyOf = ({ propagationPolicy, orphanDependents }: DeleteOptions): PropagationPolicy | undefined =>
  propagationPolicy ?? (orphanDependents === undefined ? undefined : orphanDependents ? 'Orphan' : 'Background')

/** Without a word from the client, what was wished before stands, and else what is usual for the kind. */
function wishFor(
  { kind }: Target,
  { finalizers = [] }: ObjectMeta,
  options: DeleteOptions,
): PropagationPolicy | undefined {
  const policy = policyOf(options)
  if (policy !== undefined || !kind.traits.defaultPropagation) return policy
  return finalizers.some(isPolicy) ? undefined : 'Orphan'
}

const isPolicy = (finalizer: string): boolean => finalizer === ORPHAN_FINALIZER || finalizer === FOREGROUND_FINALIZER

/** The finalizers by which the garbage collector learns what is to become of dependents. */
function withPolicy(meta: ObjectMeta, policy: PropagationPolicy | undefined): ObjectMeta {
  if (policy === undefined) return meta
  const wanted = policy === 'Orphan' ? ORPHAN_FINALIZER : policy === 'Foreground' ? FOREGROUND_FINALIZER : undefined
  const others = (meta.finalizers ?? []).filter(finalizer => finalizer === wanted || !isPolicy(finalizer))
  const finalizers = wanted === undefined || others.includes(wanted) ? others : [...others, wanted]
  const { finalizers: _, ...rest } = meta
  return finalizers.length === 0 ? rest : { ...rest, finalizers }
}
