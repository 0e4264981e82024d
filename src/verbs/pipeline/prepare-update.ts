// From the object that an update brings to the object that is stored, in kube-apiserver's order:
//
//   preconditions ── defaults ── managedFields ── mutating admission ── system fields ── strategy
//      ── allocation ── validation ── warnings ── validating admission ── conversion to the storage version
//
// It runs again for each attempt of `replace`, so that admission sees the object that is replaced.

import { type Attributes, createAttributes } from '../../admission/attributes.js'
import { keepTimes } from '../../apply/field-manager.js'
import { inTurns, startTurns } from '../../base/turns.js'
import type { SubresourceStrategy } from '../../kinds/kind.js'
import { groupKindIn, resourceOf } from '../../kinds/kind-names.js'
import { subresourceStrategy } from '../../kinds/subresources.js'
import { limitErrors } from '../../meta/errors/error-limit.js'
import { type FieldError, fieldInvalid } from '../../meta/errors/field-errors.js'
import { conflict, invalid, modifiedMeanwhile, type StatusError, unclassified } from '../../meta/errors/status.js'
import type { GroupVersionKind } from '../../meta/group-version.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { checkPathSegment } from '../../meta/object/names.js'
import {
  checkObjectMeta,
  checkObjectMetaUpdate,
  metaForUpdate,
  metaOf,
  setRequestNamespace,
} from '../../meta/object/object-meta.js'
import { checkAdmittedCount } from '../../meta/object/value-limit.js'
import { parseObjectVersion } from '../../meta/options/resource-version.js'
import type { WriteOptions } from '../../meta/options/write-options.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import type { ResourceRequest } from '../../request/request.js'
import type { Target } from '../../request/target.js'
import { check, inStorageVersion, mutate, validate } from './admit.js'
import { allocate } from './allocate.js'
import { defaultedInTurns } from './defaults.js'
import { track, withOwnership } from './field-tracking.js'
import { mergeOwnerReferences } from './owner-references.js'
import type { PipelineEnv } from './pipeline-env.js'
import { type Origin, orRollback, type Prepared } from './prepared.js'

export type UpdateRequest = ResourceRequest<WriteOptions>

/** The object that takes the place of the stored one. */
export interface Replacement extends Origin {
  readonly object: ApiObject
  /** Its uid and resourceVersion are those of the object that the client means to replace; no other may be replaced. */
  readonly isWhatClientSaw: boolean
  /** Set if the client wrote a Scale: admission sees that, and has run the mutating phase already. */
  readonly admittedAs?: AdmittedAs | undefined
}

export interface AdmittedAs {
  readonly target: Target
  readonly kind: GroupVersionKind
  view(object: ApiObject): ApiObject
}

/** May change the object of the replacement. */
export async function prepareUpdate(
  env: PipelineEnv,
  request: UpdateRequest,
  old: ApiObject,
  replacement: Replacement,
): Promise<Prepared> {
  const { target } = request
  const { kind, version } = target
  const { object: wanted, isTracked, isDecoded, admittedAs } = replacement
  const turns = startTurns()
  checkPreconditions(target, wanted, old, { withUid: replacement.isWhatClientSaw, dryRun: request.options.dryRun })
  // The duplicate owner references of a patch are found after admission only.
  const merged = replacement.isWhatClientSaw ? mergeOwnerReferences(request, wanted, 'sent') : wanted
  const done = defaultedInTurns(version.strategy, merged, isDecoded, env.now())
  const defaulted = done instanceof Promise ? await done : done
  if (turns.isDue()) await turns.give()
  const tracked = isTracked ? defaulted : await track(env, request, old, defaulted)
  if (turns.isDue()) await turns.give()
  const changed = admittedAs
    ? undefined
    : await mutate(env, { operation: 'UPDATE', request, target, object: tracked, oldObject: old })
  if (turns.isDue()) await turns.give()
  if (changed) checkAdmittedCount(changed)
  const strategy: SubresourceStrategy = subresourceStrategy(version, target.subresource) ?? version.strategy
  const admitted = mergeOwnerReferences(request, changed ? placed(target, changed, old) : tracked, 'admitted')
  if (turns.isDue()) await turns.give()
  const object = complete(env, request, strategy, admitted, old)
  if (turns.isDue()) await turns.give()
  const allocated = await allocate(env, request, object, old)
  return orRollback(allocated, async () => {
    if (turns.isDue()) await turns.give()
    if (version.strategy.prepareValidation) await inTurns(version.strategy.prepareValidation(object))
    const warnings: string[] = []
    const attributes = createAttributes({ operation: 'UPDATE', request, target, object, oldObject: old })
    const found = check(env, attributes)
    const ofAdmission = found instanceof Promise ? await found : found
    if (turns.isDue()) await turns.give()
    const errors = [
      ...commonErrors(target, object, old),
      ...ofAdmission,
      ...strategy.validateUpdate(object, old, warnings, env.now()),
    ]
    if (turns.isDue()) await turns.give()
    for (const text of warnings) request.warn(text)
    if (errors.length > 0) throw invalid(groupKindIn(object, kind), metaOf(object).name ?? '', errors)
    for (const text of strategy.warnings?.(object, old) ?? []) request.warn(text)
    await validate(env, admittedAs ? viewedAs(admittedAs, request, object, old) : attributes)
    const stored = await inStorageVersion(target, object, changed !== undefined, request)
    const isAsPrepared = changed === undefined && stored === object
    return { object, stored, isNormal: isDecoded && isAsPrepared, isMetaNormal: isTracked && isAsPrepared, allocated }
  })
}

/** What admission sees of a write through a Scale. */
const viewedAs = (
  { target, kind, view }: AdmittedAs,
  request: UpdateRequest,
  object: ApiObject,
  old: ApiObject,
): Attributes =>
  createAttributes({ operation: 'UPDATE', request, target, kind, object: view(object), oldObject: view(old) })

/** What admission has made of the object: it may have changed the namespace and the version, too. */
function placed(target: Target, changed: ApiObject, old: ApiObject): ApiObject {
  checkPreconditions(target, changed, old)
  return setMeta(changed, setRequestNamespace(metaOf(changed), target.namespace))
}

/** The fields that the server keeps or counts, set after admission. */
function complete(
  env: PipelineEnv,
  { target, options }: UpdateRequest,
  strategy: SubresourceStrategy,
  admitted: ApiObject,
  old: ApiObject,
): ApiObject {
  const { kind, name } = target
  const { allowUnconditionalUpdate } = kind.traits
  const isUnconditional = !namesVersion(admitted)
  if (isUnconditional && !allowUnconditionalUpdate) {
    const error = fieldInvalid('metadata.resourceVersion', 0, 'must be specified for an update')
    throw invalid({ group: kind.group, kind: kind.names.plural }, name, [error])
  }
  const { selfLink } = metaOf(admitted)
  const meta = metaForUpdate(metaOf(admitted), metaOf(old))
  // A selfLink is dropped when the object is stored, which a dry run does not do.
  const linked = selfLink && options.dryRun ? { ...meta, selfLink } : meta
  const seen = isUnconditional ? { ...linked, resourceVersion: metaOf(old).resourceVersion! } : linked
  const changed = withOwnership(strategy.prepareForUpdate(setMeta(admitted, seen), old, env.now()), admitted)
  // So an update that brings one changes the object.
  return selfLink ? changed : keepTimes(changed, old)
}

/** What every update must keep to, whatever its kind adds. */
function commonErrors({ kind }: Target, object: ApiObject, old: ApiObject): readonly FieldError[] {
  const meta = metaOf(object)
  const rules = { namespaced: kind.namespaced, name: checkPathSegment }
  return limitErrors(() => [...checkObjectMeta(meta, rules), ...checkObjectMetaUpdate(meta, metaOf(old))])
}

export const namesVersion = (object: ApiObject): boolean => {
  const { resourceVersion = '' } = metaOf(object)
  return resourceVersion !== '' && resourceVersion !== '0'
}

export const uidConflict = (uid: string, old: ApiObject | undefined): string =>
  `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${(old && metaOf(old).uid) ?? ''}`

/** The error of a PUT whose object has a uid that is not that of the stored object. */
export function otherUid(
  { kind, namespace, name }: Target,
  uid: string,
  old: ApiObject | undefined,
  isDryRun: boolean,
): StatusError {
  // A dry run does not reach the layer that adds the prefix to keys.
  const key = `${isDryRun ? '' : '/registry'}${keyPrefixOf(kind, namespace)}${name}`
  const reason = uidConflict(uid, old)
  const error = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${reason}`
  return conflict(resourceOf(kind), name, error)
}

/** The uid and the resourceVersion of the body must be those of the stored object. */
function checkPreconditions(
  target: Target,
  changed: ApiObject,
  old: ApiObject,
  { withUid = false, dryRun = false } = {},
): void {
  const { uid, resourceVersion = '' } = metaOf(changed)
  if (withUid && uid && uid !== metaOf(old).uid) throw otherUid(target, uid, old, dryRun)
  const version = parseObjectVersion(resourceVersion)
  if (!version.ok) throw unclassified(version.error)
  if (namesVersion(changed) && String(version.value) !== metaOf(old).resourceVersion) {
    throw modifiedMeanwhile(resourceOf(target.kind), target.name)
  }
}
