// update: the object that is there is replaced by another, if that is what the client has seen. PUT, the patches and the
// status subresource all come through here; they differ in where the new object comes from and which rules it follows.

import { keepTimes } from '../../apply/field-manager.js'
import type { Awaitable } from '../../base/awaitable.js'
import { throwIfAborted } from '../../base/cancellation.js'
import type { SubresourceStrategy } from '../../kinds/kind.js'
import { groupKindIn, resourceOf } from '../../kinds/kind-names.js'
import { subresourceStrategy } from '../../kinds/subresources.js'
import { type FieldError, fieldInvalid } from '../../meta/errors/field-errors.js'
import { conflict, hasReason, invalid, modifiedMeanwhile, notFound, unclassified } from '../../meta/errors/status.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { checkPathSegment } from '../../meta/object/names.js'
import { checkObjectMeta, checkObjectMetaUpdate, metaForUpdate, metaOf } from '../../meta/object/object-meta.js'
import { parseObjectVersion } from '../../meta/options/resource-version.js'
import type { WriteOptions } from '../../meta/options/write-options.js'
import { equalValues } from '../../meta/values/value.js'
import { keyPrefixOf, type ObjectEntry } from '../../objects/object-store.js'
import { type ObjectView, viewEntry, viewStored, viewWritten } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import { decodeStored, encodeStored } from '../../objects/stored-object.js'
import { type Body } from '../../request/body.js'
import type { ResourceRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import type { Entry } from '../../storage/store.js'
import { type ApiContext } from '../api-context.js'
import { withAllocation } from '../pipeline/allocation.js'
import { asAddressed } from '../pipeline/check-address.js'
import { bodySpecOf, readObject } from '../pipeline/decode-body.js'
import { track, withOwnership } from '../pipeline/field-tracking.js'
import type { ObjectResult } from '../result.js'
import { createFrom } from './create.js'

export async function updateObject(
  context: ApiContext,
  request: ResourceRequest<WriteOptions>,
  body: Body,
): Promise<ObjectResult> {
  const { target, options } = request
  const object = asAddressed(readObject(request, body, bodySpecOf(target), options.fieldValidation), target)
  const mayCreate = target.kind.traits.allowCreateOnUpdate && target.subresource === ''
  const answer = await replace(context, request, async old => {
    return old || !mayCreate ? { object, isWhatClientSaw: true } : undefined
  })
  if (answer) return answer
  // Which version it was meant to replace does not matter any more.
  const { resourceVersion: _, ...meta } = metaOf(object)
  const created = await createFrom(context, request, setMeta(object, meta))
  return { type: 'object', status: 201, versioned: target, object: created }
}

/** What is to stand in the place of the object that is there. */
export interface Replacement {
  readonly object: ApiObject
  /** Its uid and resourceVersion are those of the object that the client means to replace; no other may be. */
  readonly isWhatClientSaw: boolean
  /** Its managedFields are right already. */
  readonly isTracked?: boolean
}

/** Makes the replacement; is called again when the object has changed meanwhile. Nothing gives it up. */
export type Change = (old: ApiObject | undefined) => Promise<Replacement | undefined>

/** How often a change is made anew because the object has changed meanwhile: each time somebody else got on, so it ends. */
export const ATTEMPTS = 1000

/** Replaces the object by what `change` makes of it. */
export async function replace(
  context: ApiContext,
  request: ResourceRequest<WriteOptions>,
  change: Change,
): Promise<ObjectResult | undefined> {
  const { target } = request
  const { kind, namespace, name } = target
  const store = context.objectStore(kind)
  const mark = request.warnings.mark()
  for (let attempt = 1; ; attempt++) {
    throwIfAborted(request)
    const entry = await asStatus(0, () => store.get(namespace, name))
    const there = entry && (await readOld(request, entry))
    const replacement = await change(there?.old)
    if (!replacement) return undefined
    if (!there) throw notFound(resourceOf(kind), name)
    const done = await replaceEntry(context, request, there, replacement)
    if (done) return { type: 'object', status: 200, versioned: target, object: done }
    // The body names a resourceVersion, so that a lost compare-and-set is the client's conflict; it is not retried.
    const isFinal = replacement.isWhatClientSaw && namesVersion(replacement.object)
    if (isFinal || attempt === ATTEMPTS) throw modifiedMeanwhile(resourceOf(kind), name)
    request.warnings.reset(mark)
  }
}

/** What is to be replaced. */
interface There {
  readonly entry: ObjectEntry
  readonly shown: ObjectView
  readonly old: ApiObject
}

/** If the stored object cannot be decoded, the update fails with a Status without a reason, as kube-apiserver's does. */
async function readOld(request: ResourceRequest, entry: ObjectEntry): Promise<There> {
  try {
    const shown = await viewEntry(request.target, entry, request)
    return { entry, shown, old: shown.value() }
  } catch (error) {
    throw hasReason(error, 'InternalError') ? unclassified(error.message) : error
  }
}

/** Nothing when the entry is no longer there as it was. */
async function replaceEntry(
  context: ApiContext,
  request: ResourceRequest<WriteOptions>,
  there: There,
  { object: wanted, isWhatClientSaw, isTracked = false }: Replacement,
): Promise<ObjectView | undefined> {
  const { target } = request
  const { kind, version, name } = target
  const { old } = there
  checkPreconditions(target, wanted, old, isWhatClientSaw)
  const rules: SubresourceStrategy = subresourceStrategy(version, target.subresource) ?? version.strategy
  const defaulted = version.strategy.applyDefaults(wanted)
  const tracked = isTracked ? defaulted : await track(context, request, old, defaulted)
  const admitted = await context.admit({ operation: 'UPDATE', request, object: tracked, old })
  if (!kind.traits.allowUnconditionalUpdate && !namesVersion(admitted)) {
    const error = fieldInvalid('metadata.resourceVersion', 0, 'must be specified for an update')
    throw invalid({ group: kind.group, kind: kind.names.plural }, name, [error])
  }
  const meta = metaForUpdate(metaOf(admitted), metaOf(old))
  const unconditional = kind.traits.allowUnconditionalUpdate && !namesVersion(admitted)
  const seen = unconditional ? { ...meta, resourceVersion: metaOf(old).resourceVersion! } : meta
  const changed = withOwnership(rules.prepareForUpdate(setMeta(admitted, seen), old, context.now()), tracked)
  // Whoever sends a selfLink, which is never stored, has changed something for once.
  const object = metaOf(admitted).selfLink ? changed : keepTimes(changed, old)
  return withAllocation(target, object, old, request.dryRun, async () => {
    const warnings: string[] = []
    const errors = [...commonErrors(target, object, old), ...rules.validateUpdate(object, old, warnings)]
    for (const text of warnings) request.warn(text)
    if (errors.length > 0) throw invalid(groupKindIn(object, kind), name, errors)
    await context.validate({ operation: 'UPDATE', request, object, old })
    for (const text of version.strategy.warnings(object, old)) request.warn(text)
    return storeChanged(context, request, object, there)
  })
}

async function storeChanged(
  context: ApiContext,
  request: ResourceRequest,
  object: ApiObject,
  { entry, shown }: There,
): Promise<ObjectView | undefined> {
  const { target, dryRun } = request
  const { kind, version, namespace, name } = target
  const stored = await kind.convert(object, kind.storedAs, request)
  const bytes = encodeStored(stored, kind.traits.sortedKeys)
  const asBefore = (): Awaitable<ObjectView> =>
    viewWritten(target, object, stored, { key: entry.key, value: bytes, revision: entry.revision }, request)
  if (dryRun || isUnchanged(stored, bytes, entry, shown)) return asBefore()
  throwIfAborted(request)
  const store = context.objectStore(kind)
  if (metaOf(object).deletionTimestamp !== undefined && !version.strategy.blocksDeletion(object)) {
    // The last one to let go of it removes it.
    const removed = await asStatus(0, () => store.delete(namespace, name, entry.revision))
    if (removed === false) return undefined
    await kind.allocation?.release(object)
    return asBefore()
  }
  const changed = await asStatus(0, () => store.update(stored, entry.revision, bytes))
  return changed === false ? undefined : viewStored(target, object, stored, changed, request)
}

/** What every update must keep to, whatever the kind says on top of it. */
function commonErrors({ kind }: Target, object: ApiObject, old: ApiObject): FieldError[] {
  const meta = metaOf(object)
  const rules = { namespaced: kind.namespaced, name: checkPathSegment }
  return [...checkObjectMeta(meta, rules), ...checkObjectMetaUpdate(meta, metaOf(old))]
}

/** Whether a write of the object, as these bytes, would change nothing; the order of members does not count. */
export function isUnchanged(object: ApiObject, bytes: Buffer, entry: Entry, shown?: ObjectView): boolean {
  if (bytes.equals(entry.value)) return true
  // The same in another order is as long; some writers end with a newline.
  const isLonger = entry.value.at(-1) === NEWLINE ? 1 : 0
  if (bytes.length + isLonger !== entry.value.length) return false
  const { resourceVersion: _, ...metadata } = object.metadata
  // What is shown as it is stored has been parsed already.
  const stored = shown?.entry === entry ? shown.value() : decodeStored(entry)
  const { resourceVersion: __, ...before } = stored.metadata
  return equalValues({ ...object, metadata }, { ...stored, metadata: before })
}

const NEWLINE = 0x0a

const namesVersion = (object: ApiObject): boolean => {
  const { resourceVersion = '' } = metaOf(object)
  return resourceVersion !== '' && resourceVersion !== '0'
}

/** What the body says of the object that it means to replace must be true of the one that is there. */
function checkPreconditions(
  { kind, namespace, name }: Target,
  changed: ApiObject,
  old: ApiObject,
  withUid: boolean,
): void {
  const { uid, resourceVersion = '' } = metaOf(changed)
  const version = parseObjectVersion(resourceVersion)
  if (!version.ok) throw unclassified(version.error)
  if (withUid && uid && uid !== metaOf(old).uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metaOf(old).uid ?? ''}`
    const key = `/registry${keyPrefixOf(kind, namespace)}${name}`
    const warnings = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`
    throw conflict(resourceOf(kind), name, warnings)
  }
  if (namesVersion(changed) && String(version.value) !== metaOf(old).resourceVersion) {
    throw modifiedMeanwhile(resourceOf(kind), name)
  }
}
