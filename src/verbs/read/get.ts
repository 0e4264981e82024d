// get: one object, as fresh as the request asks for.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { notFound, unclassified } from '../../meta/errors/status.js'
import type { GetOptions } from '../../meta/options/list-options.js'
import { parseResourceVersion } from '../../meta/options/resource-version.js'
import { type Shown, showEntry } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import { type Target } from '../../request/target.js'
import type { ReadAt } from '../../storage/store.js'
import { type ResourceContext } from '../api-context.js'
import type { ObjectAnswer } from '../result.js'

export function getObject(context: ResourceContext, target: Target, options: GetOptions): Awaitable<ObjectAnswer> {
  const { kind, namespace, name } = target
  const { at, asked } = readAtVersion(options.resourceVersion)
  const found = asStatus(asked, () => context.storeOf(kind).get(namespace, name, at))
  return andThen(found, entry => {
    if (!entry) throw notFound(resourceOf(kind), name)
    return andThen(showEntry(target, entry), object => answerWith(target, object))
  })
}

const answerWith = (served: Target, object: Shown): ObjectAnswer => ({
  type: 'object',
  status: 200,
  warnings: [],
  served,
  object,
})

/** No version is the latest, 0 is any, all others are the oldest that will do. */
function readAtVersion(resourceVersion: string): { at: ReadAt; asked: bigint } {
  const version = parseResourceVersion(resourceVersion)
  if (!version.ok) throw unclassified(version.error)
  const asked = version.value
  if (asked === 0n) return { at: resourceVersion === '' ? 'latest' : 'any', asked }
  return { at: { notOlderThan: Number(asked) }, asked }
}
