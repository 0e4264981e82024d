// The one place where the pipeline calls admission.

import { type Attributes, type AttributesInit, createAttributes } from '../../admission/attributes.js'
import type { Awaitable } from '../../base/awaitable.js'
import type { Cancellation } from '../../base/cancellation.js'
import type { FieldError } from '../../meta/errors/field-errors.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { Target } from '../../request/target.js'
import type { Entry } from '../../storage/store.js'
import type { PipelineEnv } from './pipeline-env.js'

/** Runs the mutating phase: the changed object, or undefined if no plugin has changed it. */
export const mutate = ({ admission }: PipelineEnv, init: AttributesInit): Awaitable<ApiObject | undefined> =>
  admission.mutate(createAttributes(init))

/** The errors of fields that admission finds, for the validation of the object. */
export const check = ({ admission }: PipelineEnv, attributes: Attributes): Awaitable<readonly FieldError[]> =>
  admission.check(attributes)

/** Runs the validating phase. */
export const validate = ({ admission }: PipelineEnv, attributes: Attributes): Awaitable<void> =>
  admission.validate(attributes)

/**
 * Gives admission the bytes of an object that was stored, if it was stored as admission has seen it. It must be called
 * before the next write of the object.
 */
export function reportStored(
  { admission }: PipelineEnv,
  { object, stored }: { readonly object: ApiObject; readonly stored: ApiObject },
  entry: Entry,
): void {
  if (object === stored) admission.stored(object, entry.value)
}

/**
 * The object as it is stored. Webhooks and policies may have changed it in another version, so that it has fields that the
 * schema of its own version does not know: those that the storage version knows are kept.
 */
export function inStorageVersion(
  { kind, version }: Target,
  object: ApiObject,
  isAdmissionsWork: boolean,
  cancellation: Cancellation,
): Awaitable<ApiObject> {
  const isInStorageVersion = object.apiVersion === kind.storedAs
  if (isInStorageVersion && isAdmissionsWork && kind.convertUnpruned) return version.strategy.decode(object, []).object
  return kind.convert(object, kind.storedAs, cancellation)
}
