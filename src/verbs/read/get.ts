// get: one object, at the resourceVersion that the request requires.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { notFound, unclassified } from '../../meta/errors/status.js'
import type { GetOptions } from '../../meta/options/list-options.js'
import { parseResourceVersion } from '../../meta/options/resource-version.js'
import type { ObjectView } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import type { ResourceRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import type { ReadAt } from '../../storage/store.js'
import { type ApiContext } from '../api-context.js'
import type { ObjectResult } from '../result.js'

export function getObject(context: ApiContext, request: ResourceRequest<GetOptions>): Awaitable<ObjectResult> {
  const { target, options } = request
  const { kind, namespace, name } = target
  const { at, requested } = readAtVersion(options.resourceVersion)
  const objects = context.objectStore(kind)
  const found = asStatus(requested, () => objects.get(namespace, name, at))
  return andThen(found, entry => {
    if (!entry) throw notFound(resourceOf(kind), name)
    return andThen(objects.views.view(target, entry, request), object => answerWith(target, object))
  })
}

const answerWith = (served: Target, object: ObjectView): ObjectResult => ({
  type: 'object',
  status: 200,
  versioned: served,
  object,
})

/** No version requires the latest, 0 allows any, others require one that is not older. */
function readAtVersion(resourceVersion: string): { at: ReadAt; requested: bigint } {
  const version = parseResourceVersion(resourceVersion)
  if (!version.ok) throw unclassified(version.error)
  const requested = version.value
  if (requested === 0n) return { at: resourceVersion === '' ? 'latest' : 'any', requested }
  return { at: { notOlderThan: Number(requested) }, requested }
}
