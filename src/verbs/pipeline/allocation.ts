// Writing an object of a kind whose objects take something from a shared stock: what was taken is given back unless the
// object is stored.

import { groupKindOf } from '../../kinds/kind-names.js'
import { invalid, StatusError } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { RequestAborted } from '../../request/request.js'
import { type Target } from '../../request/target.js'

/** `write` answers undefined when the object was not stored. It sees what the object was given. */
export async function withAllocation<T>(
  { kind, subresource }: Target,
  object: ApiObject,
  old: ApiObject | undefined,
  dryRun: boolean,
  write: () => Promise<T | undefined>,
): Promise<T | undefined> {
  if (!kind.allocation || subresource !== '') return write()
  const allocated = await kind.allocation.allocate(object, old, dryRun)
  if (allocated.errors.length > 0) throw invalid(groupKindOf(kind), metaOf(object).name ?? '', allocated.errors)
  try {
    const done = await write()
    await (done === undefined || dryRun ? allocated.rollback() : allocated.commit())
    return done
  } catch (error) {
    // After an error of the store it is not known whether the object was stored, so that nothing may be released.
    const isNotStored = error instanceof StatusError && (error.status.code ?? 500) < 500
    if (isNotStored || error instanceof RequestAborted) await allocated.rollback()
    throw error
  }
}
