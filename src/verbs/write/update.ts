// update: the stored object is replaced by another one. PUT, the patches and the subresources all come through
// `replace`; they differ in where the new object comes from and in the strategy that it follows.

import type { Awaitable } from '../../base/awaitable.js'
import { throwIfAborted } from '../../base/cancellation.js'
import { startTurns } from '../../base/turns.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { hasReason, modifiedMeanwhile, notFound, unclassified } from '../../meta/errors/status.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { parseObjectVersion } from '../../meta/options/resource-version.js'
import { equalValues } from '../../meta/values/value.js'
import { keyPrefixOf, type ObjectEntry, type ObjectStore } from '../../objects/object-store.js'
import type { ObjectView } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import { decodeStored } from '../../objects/stored-object.js'
import { Unreadable } from '../../objects/unreadable.js'
import type { Body } from '../../request/body.js'
import type { ResourceRequest } from '../../request/request.js'
import type { Entry, Revision } from '../../storage/store.js'
import type { ApiContext } from '../api-context.js'
import { reportStored } from '../pipeline/admit.js'
import { checkAddress } from '../pipeline/check-address.js'
import { bodySpecOf, readObject } from '../pipeline/decode-body.js'
import {
  namesVersion,
  otherUid,
  prepareUpdate,
  type Replacement,
  type UpdateRequest,
} from '../pipeline/prepare-update.js'
import { DECODED, type Prepared, storePrepared } from '../pipeline/prepared.js'
import type { ObjectResult } from '../result.js'
import { createFrom } from './create.js'

export async function updateObject(context: ApiContext, request: UpdateRequest, body: Body): Promise<ObjectResult> {
  const { target, options } = request
  const object = checkAddress(readObject(request, body, bodySpecOf(target), options.fieldValidation), target)
  // A write of the status creates the object, too.
  const mayCreate = target.kind.traits.allowCreateOnUpdate && ['', 'status'].includes(target.subresource)
  const updated = await replace(context, request, async old => {
    if (old || !mayCreate) return { object, isWhatClientSaw: true, ...DECODED }
    // The client has seen an object that is gone.
    const { uid = '' } = metaOf(object)
    if (uid !== '') throw otherUid(target, uid, undefined, request.dryRun)
    return undefined
  })
  if (updated) return updated
  const created = await createFrom(context, request, withoutVersion(object), DECODED)
  return { type: 'object', status: 201, versioned: target, object: created }
}

/** There is nothing to replace, so that the version in the body does not matter; but it must be one. */
export function withoutVersion(object: ApiObject): ApiObject {
  const { resourceVersion = '', ...meta } = metaOf(object)
  const version = parseObjectVersion(resourceVersion)
  if (!version.ok) throw unclassified(version.error)
  return setMeta(object, meta)
}

/** Makes the replacement; called again when the object has changed meanwhile. Undefined leaves the object alone. */
export type Change = (old: ApiObject | undefined) => Promise<Replacement | undefined>

/** How often a change is made anew because the object has changed meanwhile. Each lost attempt means that another write succeeded. */
export const ATTEMPTS = 1000

/** Replaces the object by what `change` makes of it. */
export async function replace(
  context: ApiContext,
  request: UpdateRequest,
  change: Change,
): Promise<ObjectResult | undefined> {
  const { kind, namespace, name } = request.target
  const { writers } = context
  const key = `${keyPrefixOf(kind, namespace)}${name}`
  const mark = request.warnings.mark()
  const end = writers.begin(key)
  let leave = end ?? (await writers.enter(key, request))
  let lost: Revision | undefined
  try {
    for (let attempt = 1; ; attempt++) {
      const replaced = await tryReplace(context, request, change, lost)
      if (!(replaced instanceof Lost)) return replaced
      lost = replaced.revision
      if (attempt === ATTEMPTS) throw modifiedMeanwhile(resourceOf(kind), name)
      if (leave === end) {
        leave()
        leave = await writers.enter(key, request)
      }
      request.warnings.reset(mark)
    }
  } finally {
    leave()
  }
}

/** The object has changed since this revision of it. */
class Lost {
  constructor(readonly revision: Revision) {}
}

/**
 * An attempt begins with the object as this process knows it, unless an attempt at that revision was `lost`. It need not be
 * read: the write fails if another process has changed it. What comes of it without a write counts only if that is the
 * latest state.
 */
async function tryReplace(
  context: ApiContext,
  request: UpdateRequest,
  change: Change,
  lost: Revision | undefined,
): Promise<ObjectResult | Lost | undefined> {
  const { target } = request
  const { kind, namespace, name } = target
  const store = context.objectStore(kind)
  throwIfAborted(request)
  const latest = request.dryRun ? undefined : store.getKnown(namespace, name)
  const known = latest && (lost === undefined || latest.revision > lost) ? latest : undefined
  const entry = known ?? (await asStatus(0, () => store.get(namespace, name)))
  const turns = startTurns()
  const made = await orIfChanged(store, request, known, async () => {
    const found = entry && (await readOld(store, request, entry))
    if (turns.isDue()) await turns.give()
    const replacement = await change(found?.old)
    if (!replacement) return undefined
    if (!found) throw notFound(resourceOf(kind), name)
    if (turns.isDue()) await turns.give()
    return { found, replacement, prepared: await prepareUpdate(context, request, found.old, replacement) }
  })
  if (!made) return known && (await hasChanged(store, request, known)) ? new Lost(known.revision) : undefined
  if (made === 'changed') return new Lost(known!.revision)
  const { found, replacement, prepared } = made
  if (turns.isDue()) await turns.give()
  const how = { dryRun: request.dryRun, isApply: replacement.isTracked }
  // A write that must fail is left out: to encode a large object takes as long as all before it.
  const isLate = (store.getKnown(namespace, name)?.revision ?? 0) > found.entry.revision
  const view = isLate
    ? undefined
    : await storePrepared(prepared, how, ready => storeChanged(context, request, ready, found, known))
  if (view) return { type: 'object', status: 200, versioned: target, object: view }
  // The body names a resourceVersion, so that a lost compare-and-set is the client's conflict; it is not retried.
  if (replacement.isWhatClientSaw && namesVersion(replacement.object)) throw modifiedMeanwhile(resourceOf(kind), name)
  return new Lost(found.entry.revision)
}

/** The result of an action; `changed` if it fails and the entry that it began with is not the latest one. */
async function orIfChanged<T>(
  store: ObjectStore,
  request: ResourceRequest,
  known: ObjectEntry | undefined,
  action: () => Promise<T>,
): Promise<T | 'changed'> {
  if (!known) return action()
  try {
    return await action()
  } catch (error) {
    throwIfAborted(request)
    if (await hasChanged(store, request, known)) return 'changed'
    throw error
  }
}

async function hasChanged(store: ObjectStore, { target }: ResourceRequest, known: ObjectEntry): Promise<boolean> {
  const latest = await asStatus(0, () => store.get(target.namespace, target.name))
  return latest?.revision !== known.revision
}

/** The object that is to be replaced. */
interface Found {
  readonly entry: ObjectEntry
  readonly view: ObjectView
  readonly old: ApiObject
}

/** If the stored object cannot be decoded, the update fails with a Status without a reason, as kube-apiserver's does. */
async function readOld(store: ObjectStore, request: ResourceRequest, entry: ObjectEntry): Promise<Found> {
  try {
    const view = await store.views.view(request.target, entry, request)
    return { entry, view, old: view.value() }
  } catch (error) {
    const { cause } = error as Error
    if (cause instanceof Unreadable && !cause.isTransformable) throw error
    throw hasReason(error, 'InternalError') ? unclassified(error.message) : error
  }
}

/** Undefined if the entry is no longer as it was. */
async function storeChanged(
  context: ApiContext,
  request: ResourceRequest,
  prepared: Prepared,
  { entry, view }: Found,
  known: ObjectEntry | undefined,
): Promise<ObjectView | undefined> {
  const { target, dryRun } = request
  const { kind, version, namespace, name } = target
  const { object, stored } = prepared
  const store = context.objectStore(kind)
  const bytes = store.encode(stored)
  const atOldRevision = (): Awaitable<ObjectView> =>
    store.views.viewWritten(target, prepared, { key: entry.key, value: bytes, revision: entry.revision }, request)
  if (dryRun) return atOldRevision()
  if (isUnchanged(stored, bytes, entry, view) && !(await store.cache.isStale?.(entry.key))) {
    return known && (await hasChanged(store, request, known)) ? undefined : atOldRevision()
  }
  throwIfAborted(request)
  if (metaOf(object).deletionTimestamp !== undefined && !version.strategy.blocksDeletion(object)) {
    // The last finalizer of a terminating object is gone: the object is removed.
    const removed = await asStatus(0, () => store.delete(namespace, name, entry.revision))
    if (removed === false) return undefined
    await context.allocationOf(kind)?.release(object)
    return atOldRevision()
  }
  const changed = await asStatus(0, () => store.update(stored, entry.revision, bytes, kind.guard))
  if (changed === false) return undefined
  reportStored(context, prepared, changed)
  return store.views.viewStored(target, prepared, changed, request)
}

/** Whether a write of the object, as these bytes, would change nothing; the order of members does not count. */
export function isUnchanged(object: ApiObject, bytes: Buffer, entry: Entry, view?: ObjectView): boolean {
  if (bytes.equals(entry.value)) return true
  // The same in another order is as long; some writers end with a newline.
  const isLonger = entry.value.at(-1) === NEWLINE ? 1 : 0
  if (bytes.length + isLonger !== entry.value.length) return false
  const { resourceVersion: _, ...metadata } = object.metadata
  // A view of the entry as it is stored has parsed it already.
  const stored = view?.entry === entry ? view.value() : decodeStored(entry)
  const { resourceVersion: __, ...before } = stored.metadata
  return equalValues({ ...object, metadata }, { ...stored, metadata: before })
}

const NEWLINE = 0x0a
