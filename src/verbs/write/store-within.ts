// An object is stored only in the namespace that admission has seen. It may be deleted meanwhile, here or by another
// process. Other changes of it, such as of its labels, do not count, as in kube-apiserver: admission does not run again.

import { throwIfAborted } from '../../base/cancellation.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ObjectEntry } from '../../objects/object-attributes.js'
import { asStatus, isGuardFailure } from '../../objects/storage-status.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ResourceRequest } from '../../request/request.js'
import type { Guard } from '../../storage/store.js'
import type { ApiContext } from '../api-context.js'

/**
 * Stores an object while its definition and the namespace that admission has seen (`seen`) are there; fails as a guard
 * fails if they are not. An object without a namespace depends on its definition alone.
 */
export async function storeWithin<T>(
  context: ApiContext,
  request: ResourceRequest,
  seen: ObjectEntry | undefined,
  store: (guard: Guard | undefined) => Promise<T>,
): Promise<T> {
  const { kind, namespace } = request.target
  throwIfAborted(request)
  if (!seen) return store(kind.guard)
  for (let entry = seen; ; throwIfAborted(request)) {
    try {
      return await store({ key: entry.key, revision: entry.revision, and: kind.guard })
    } catch (error) {
      if (!isGuardFailure(error)) throw error
      const latest = await asStatus(0, () => context.namespaces.latest(namespace))
      // If it is as it was, the definition has changed.
      if (!latest || latest.revision === entry.revision || !acceptsObjects(latest, seen)) throw error
      entry = latest
    }
  }
}

/** Whether it is still the same namespace, and not being deleted. */
const acceptsObjects = (latest: ObjectEntry, seen: ObjectEntry): boolean =>
  !latest.attributes.data.isTerminating && uidOf(latest) === uidOf(seen)

const uidOf = (entry: ObjectEntry): string | undefined => metaOf(decodeStored(entry)).uid
