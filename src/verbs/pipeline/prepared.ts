// An object that is ready to be stored, and what must be done once it is known whether it was.

import type { Allocated } from '../../kinds/kind.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { isNotStored, isTooLarge } from '../../objects/storage-status.js'
import { RequestAborted } from '../../request/request.js'

export interface Prepared {
  /** In the version of the request: the response. */
  readonly object: ApiObject
  /** In the storage version. */
  readonly stored: ApiObject
  /** Reading it from the store gives `object` again, so that nothing needs to be read after the write. */
  readonly isNormal: boolean
  /** The same of its metadata alone: those of an applied object are decoded, the rest is merged. */
  readonly isMetaNormal?: boolean
  /** Undefined for kinds that allocate nothing. */
  readonly allocated: Allocated | undefined
}

/** How the object of a write came to be. */
export interface Origin {
  /** It was decoded by the rules of its kind, and not put together from other objects. */
  readonly isDecoded: boolean
  /** Its managedFields already say what this write sets. */
  readonly isTracked: boolean
}

export const DECODED: Origin = { isDecoded: true, isTracked: false }
export const MADE: Origin = { isDecoded: false, isTracked: false }
export const APPLIED: Origin = { isDecoded: false, isTracked: true }

/** Carries out a step after allocation. If it fails, what was allocated is released. */
export async function orRollback<T>(allocated: Allocated | undefined, step: () => Promise<T>): Promise<T> {
  if (!allocated) return step()
  try {
    return await step()
  } catch (error) {
    await allocated.rollback()
    throw error
  }
}

/** Stores a prepared object; undefined if it was not stored because another write came first. */
export async function storePrepared<T>(
  prepared: Prepared,
  how: { readonly dryRun: boolean; readonly isApply: boolean },
  store: (prepared: Prepared) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { allocated } = prepared
  try {
    const done = await store(prepared)
    if (allocated) await (done === undefined || how.dryRun ? allocated.rollback() : allocated.commit())
    return done
  } catch (error) {
    // managedFields may be larger than the rest of the object. An apply needs them.
    if (isTooLarge(error) && !how.isApply && metaOf(prepared.stored).managedFields) {
      return storePrepared(withoutManagedFields(prepared), how, store)
    }
    // After other errors of the store it is not known whether the object was stored, so that nothing may be released.
    if (allocated && (isNotStored(error) || error instanceof RequestAborted)) await allocated.rollback()
    throw error
  }
}

function withoutManagedFields(prepared: Prepared): Prepared {
  const drop = (from: ApiObject): ApiObject => {
    const { managedFields: _, ...meta } = metaOf(from)
    return setMeta(from, meta)
  }
  const stored = drop(prepared.stored)
  return { ...prepared, stored, object: prepared.object === prepared.stored ? stored : drop(prepared.object) }
}
