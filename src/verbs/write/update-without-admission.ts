// A change that is part of another operation, such as binding a pod. That operation is admitted as a whole, so that this
// write goes through neither admission nor validation.

import { throwIfAborted } from '../../base/cancellation.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { modifiedMeanwhile, notFound } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { asWritten } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import type { ResourceRequest } from '../../request/request.js'
import { type ApiContext } from '../api-context.js'
import { ATTEMPTS } from './update.js'

/**
 * Stores what `change` makes of the object, and tries again if the object has changed meanwhile. A dry run stores
 * nothing. `change` does not modify its argument, and throws to refuse.
 */
export async function updateWithoutAdmission(
  context: ApiContext,
  request: ResourceRequest,
  change: (old: ApiObject) => ApiObject,
): Promise<ApiObject> {
  const { target, dryRun } = request
  const { kind, namespace, name } = target
  const store = context.objectStore(kind)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    throwIfAborted(request)
    const entry = await asStatus(0, () => store.get(namespace, name))
    if (!entry) throw notFound(resourceOf(kind), name)
    const object = change((await store.views.view(target, entry, request)).value())
    if (dryRun) return object
    const stored = await kind.convert(object, kind.storedAs, request)
    const bytes = store.encode(stored)
    throwIfAborted(request)
    const written = await asStatus(0, () => store.update(stored, entry.revision, bytes, kind.guard))
    if (written !== false) return asWritten(kind, object, String(written.revision))
  }
  throw modifiedMeanwhile(resourceOf(kind), name)
}
