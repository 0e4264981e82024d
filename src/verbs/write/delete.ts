// delete: the object is removed at once, or marked as terminating and removed when nothing blocks it.

import { type AttributesInit, createAttributes } from '../../admission/attributes.js'
import { throwIfAborted } from '../../base/cancellation.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { modifiedMeanwhile, notFound, success } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ObjectEntry } from '../../objects/object-store.js'
import { asWritten, viewValue } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import type { ApiContext } from '../api-context.js'
import { mutate, validate } from '../pipeline/admit.js'
import { type DeletePlan, type DeleteRequest, prepareDelete, requestedPropagation } from '../pipeline/prepare-delete.js'
import type { ObjectResult, StatusResult } from '../result.js'
import { deleteUnreadable } from './unsafe-delete.js'
import { ATTEMPTS, isUnchanged } from './update.js'

export async function deleteObject(context: ApiContext, request: DeleteRequest): Promise<ObjectResult | StatusResult> {
  const { target, options } = request
  if (options.ignoreStoreReadError) return deleteUnreadable(context, request)
  const { kind } = target
  const { warning } = kind.traits.defaultPropagation ?? {}
  // Also for an object that does not exist.
  if (warning !== undefined && requestedPropagation(options) === undefined) request.warn(warning)
  const { object, isGone } = await remove(context, request)
  if (isGone && !kind.traits.returnsDeletedObject) {
    const { name = '', uid = '' } = metaOf(object)
    const details = { name, group: kind.group, kind: kind.names.plural, uid }
    return { type: 'status', status: 200, body: success(details) }
  }
  // A client that sets orphanDependents to false, the old form of Foreground, gets 202 while the object is terminating.
  const status = !isGone && options.orphanDependents === false ? 202 : 200
  return { type: 'object', status, versioned: target, object: viewValue(object) }
}

export interface Removed {
  /** As it was last, or as it is terminating. */
  readonly object: ApiObject
  readonly isGone: boolean
}

/** `seen`: the entry of the object, if it has just been read. */
export async function remove(context: ApiContext, request: DeleteRequest, seen?: ObjectEntry): Promise<Removed> {
  const { target } = request
  const { kind, namespace, name } = target
  const store = context.objectStore(kind)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    throwIfAborted(request)
    const entry = attempt === 1 && seen ? seen : await asStatus(0, () => store.get(namespace, name))
    if (!entry) throw notFound(resourceOf(kind), name)
    const plan = await prepareDelete(context, request, await store.views.read(target, entry, request))
    const removed = await carryOut(context, request, plan, entry)
    if (removed) return removed
  }
  throw modifiedMeanwhile(resourceOf(kind), name)
}

/**
 * Deletes the object of an entry that has just been read; returns the object if it is still terminating. Most objects are
 * removed at once, as their bytes show, and are not decoded.
 */
export async function removeEntry(
  context: ApiContext,
  request: DeleteRequest,
  entry: ObjectEntry,
): Promise<ApiObject | undefined> {
  const isAtOnce = isRemovedAtOnce(context, request, entry)
  if (isAtOnce && (await removeUnread(context, request, entry))) return undefined
  const { object, isGone } = await remove(context, request, isAtOnce ? undefined : entry)
  return isGone ? undefined : object
}

const FINALIZERS = Buffer.from('"finalizers"')

function isRemovedAtOnce(context: ApiContext, { target, options, dryRun }: DeleteRequest, entry: ObjectEntry): boolean {
  const { kind, version } = target
  return (
    version.strategy.isBlockedByFinalizersOnly === true &&
    requestedPropagation(options) === 'Background' &&
    options.preconditions === undefined &&
    !dryRun &&
    context.allocationOf(kind) === undefined &&
    context.objectStore(kind).views.isInVersion(target, entry) &&
    !entry.value.includes(FINALIZERS)
  )
}

/** False if the entry is no longer as it was. Admission decodes the object if a plugin reads it. */
async function removeUnread(context: ApiContext, request: DeleteRequest, entry: ObjectEntry): Promise<boolean> {
  const { target } = request
  const { kind, namespace, name } = target
  const store = context.objectStore(kind)
  throwIfAborted(request)
  let old: ApiObject | undefined
  const attributes: AttributesInit = {
    operation: 'DELETE',
    request,
    target,
    object: undefined,
    get oldObject() {
      // Not a promise: an entry in the version of the request is not converted.
      return (old ??= store.views.read(target, entry, request) as ApiObject)
    },
  }
  await mutate(context, attributes)
  await validate(context, createAttributes(attributes))
  return (await asStatus(0, () => store.delete(namespace, name, entry.revision))) !== false
}

/** Undefined if the entry is no longer as it was. */
async function carryOut(
  context: ApiContext,
  request: DeleteRequest,
  plan: DeletePlan,
  entry: ObjectEntry,
): Promise<Removed | undefined> {
  const { object } = plan
  if (plan.type === 'wait') return { object, isGone: false }
  if (plan.type === 'remove') {
    return request.dryRun ? { object, isGone: true } : removeStored(context, request, object, entry.revision)
  }
  const { kind } = request.target
  const store = context.objectStore(kind)
  const bytes = store.encode(plan.stored)
  if (request.dryRun || isUnchanged(plan.stored, bytes, entry)) return { object, isGone: !plan.isBlocked }
  throwIfAborted(request)
  const marked = await asStatus(0, () => store.update(plan.stored, entry.revision, bytes))
  if (marked === false) return undefined
  if (plan.isBlocked) return { object: asWritten(kind, object, String(marked.revision)), isGone: false }
  // Watchers have seen the object as terminating; it has no grace period to wait for.
  return removeStored(context, request, object, marked.revision)
}

async function removeStored(
  context: ApiContext,
  request: DeleteRequest,
  object: ApiObject,
  revision: number,
): Promise<Removed | undefined> {
  const { kind, namespace, name } = request.target
  throwIfAborted(request)
  const removed = await asStatus(0, () => context.objectStore(kind).delete(namespace, name, revision))
  if (removed === false) return undefined
  await context.allocationOf(kind)?.release(object)
  return { object: asWritten(kind, object, String(removed)), isGone: true }
}
