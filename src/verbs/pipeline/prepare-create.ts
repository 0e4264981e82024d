// From the object that a create brings to the object that is stored, in kube-apiserver's order:
//
//   namespace ── defaults ── managedFields ── mutating admission                                    admitCreate
//      │
//   system fields (name, uid, time) ── strategy ── allocation ── validation ── warnings
//      ── validating admission ── conversion to the storage version                                 completeCreate
//
// A generated name may be taken. Then only the second part runs again, on a copy of the admitted object.

import { createAttributes } from '../../admission/attributes.js'
import { inTurns, startTurns } from '../../base/turns.js'
import { groupKindIn } from '../../kinds/kind-names.js'
import { limitErrors } from '../../meta/errors/error-limit.js'
import type { FieldError } from '../../meta/errors/field-errors.js'
import { invalid } from '../../meta/errors/status.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { checkPathSegment } from '../../meta/object/names.js'
import {
  checkObjectMeta,
  metaForCreate,
  metaOf,
  setRequestNamespace,
  withoutSystemFields,
} from '../../meta/object/object-meta.js'
import { checkAdmittedCount } from '../../meta/object/value-limit.js'
import type { WriteOptions } from '../../meta/options/write-options.js'
import type { ResourceRequest } from '../../request/request.js'
import type { Target } from '../../request/target.js'
import { check, inStorageVersion, mutate, validate } from './admit.js'
import { allocate } from './allocate.js'
import { defaultedInTurns } from './defaults.js'
import { track } from './field-tracking.js'
import { mergeOwnerReferences } from './owner-references.js'
import type { PipelineEnv } from './pipeline-env.js'
import { type Origin, orRollback, type Prepared } from './prepared.js'

export type CreateRequest = ResourceRequest<WriteOptions>

/** May change `sent`. */
export async function prepareCreate(
  env: PipelineEnv,
  request: CreateRequest,
  sent: ApiObject,
  origin: Origin,
): Promise<Prepared> {
  return completeCreate(env, request, await admitCreate(env, request, asPosted(sent), origin))
}

/** What the body of a POST says, but for the fields that a client cannot set. A PUT or apply that creates keeps them. */
export const asPosted = (sent: ApiObject): ApiObject => setMeta(sent, withoutSystemFields(metaOf(sent)))

/** An object after mutating admission. */
export interface Admitted {
  readonly object: ApiObject
  readonly isNormal: boolean
  readonly isChanged: boolean
}

export async function admitCreate(
  env: PipelineEnv,
  request: CreateRequest,
  sent: ApiObject,
  { isDecoded, isTracked }: Origin,
): Promise<Admitted> {
  const { target } = request
  const turns = startTurns()
  const placed = setMeta(sent, setRequestNamespace(metaOf(sent), target.namespace))
  // An apply that creates an object is a patch, see prepare-update.ts.
  const merged = isTracked ? placed : mergeOwnerReferences(request, placed, 'sent')
  const done = defaultedInTurns(target.version.strategy, merged, false, env.now())
  const defaulted = done instanceof Promise ? await done : done
  if (turns.isDue()) await turns.give()
  const tracked = isTracked ? defaulted : await track(env, request, undefined, defaulted)
  if (turns.isDue()) await turns.give()
  const changed = await mutate(env, { operation: 'CREATE', request, target, object: tracked, oldObject: undefined })
  if (turns.isDue()) await turns.give()
  if (changed) checkAdmittedCount(changed)
  // Admission may have changed the namespace, too.
  const admitted = changed && setMeta(changed, setRequestNamespace(metaOf(changed), target.namespace))
  const object = mergeOwnerReferences(request, admitted ?? tracked, 'admitted')
  return { object, isNormal: isDecoded && changed === undefined, isChanged: changed !== undefined }
}

/** May change the admitted object. */
export async function completeCreate(env: PipelineEnv, request: CreateRequest, admitted: Admitted): Promise<Prepared> {
  const { target } = request
  const { kind, version } = target
  const now = env.now()
  const turns = startTurns()
  const named = setMeta(admitted.object, metaForCreate(metaOf(admitted.object), now, env.ids))
  const hadStatus = 'status' in named
  const creating = { warn: (text: string) => request.warn(text), subresource: target.subresource }
  const object = version.strategy.prepareForCreate(named, now, creating)
  // A create drops the status. If the schema has a default for it, readers see that default.
  const isNormal = admitted.isNormal && (!hadStatus || 'status' in object)
  if (turns.isDue()) await turns.give()
  const allocated = await allocate(env, request, object, undefined)
  return orRollback(allocated, async () => {
    if (turns.isDue()) await turns.give()
    if (version.strategy.prepareValidation) await inTurns(version.strategy.prepareValidation(object))
    const warnings: string[] = []
    const attributes = createAttributes({ operation: 'CREATE', request, target, object, oldObject: undefined })
    const found = check(env, attributes)
    const ofAdmission = found instanceof Promise ? await found : found
    if (turns.isDue()) await turns.give()
    const errors = [...ofAdmission, ...errorsOf(target, object, warnings)]
    if (turns.isDue()) await turns.give()
    if (errors.length > 0) throw invalid(groupKindIn(object, kind), metaOf(object).name ?? '', errors)
    for (const text of warnings) request.warn(text)
    for (const text of version.strategy.warnings(object, undefined)) request.warn(text)
    await validate(env, attributes)
    const unversioned = withoutVersion(object)
    const stored = await inStorageVersion(target, unversioned, admitted.isChanged, request)
    return { object, stored, isNormal: isNormal && stored === unversioned, allocated }
  })
}

/** The errors that the kind finds; if there are none, those of the metadata of any object. */
function errorsOf({ kind, version }: Target, object: ApiObject, warnings: string[]): readonly FieldError[] {
  const errors = version.strategy.validate(object, warnings)
  const common = { namespaced: kind.namespaced, name: checkPathSegment }
  return errors.length > 0 ? errors : limitErrors(() => checkObjectMeta(metaOf(object), common))
}

function withoutVersion(object: ApiObject): ApiObject {
  if (metaOf(object).resourceVersion === undefined) return object
  const { resourceVersion: _, ...meta } = metaOf(object)
  return setMeta(object, meta)
}
