// deletecollection: deletes all objects of a list, each by itself and several at a time.

import { hasReason } from '../../meta/errors/status.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ListOptions } from '../../meta/options/list-options.js'
import type { DeleteOptions } from '../../meta/options/write-options.js'
import { type ObjectView } from '../../objects/object-view.js'
import { forResource, type ResourceRequest } from '../../request/request.js'
import { type ApiContext } from '../api-context.js'
import { listObjects, once } from '../read/list.js'
import type { ListResult } from '../result.js'
import { remove } from './delete.js'

const MAX_CONCURRENT = 16
/** The limit of the lists if the request has none. With a limit, a resourceVersion is exact. */
const PAGE = 10_000

/** The result is the list of the objects as they were before. */
export async function deleteCollection(
  context: ApiContext,
  request: ResourceRequest<DeleteOptions>,
  listOptions: ListOptions,
): Promise<ListResult> {
  const { target, options } = request
  const readPage = (part: Partial<ListOptions>) =>
    listObjects(context, forResource(request, target, { ...listOptions, watch: false, ...part }))
  const isPage = listOptions.limit > 0
  const list = await readPage(isPage ? {} : { limit: PAGE })
  const objects: ObjectView[] = []
  for await (const page of list.pages) objects.push(...page)
  let next = isPage ? undefined : list.continueToken
  while (next !== undefined) {
    const more = await readPage({ limit: PAGE, resourceVersion: '', resourceVersionMatch: '', continue: next })
    for await (const page of more.pages) objects.push(...page)
    next = more.continueToken
  }
  const rest = objects.values()
  let failed = false
  const worker = async () => {
    for (const shown of rest) {
      const { namespace = '', name = '' } = metaOf(shown.value())
      try {
        await remove(context, forResource(request, { ...target, namespace, name }, options))
      } catch (error) {
        // Another request has deleted it.
        if (hasReason(error, 'NotFound')) continue
        failed = true
        throw error
      }
      // What comes after the object that cannot be deleted stays.
      if (failed) return
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker))
  const { kept: _, keep: __, ...result } = list
  return { ...result, ...(isPage ? {} : { continueToken: undefined, remaining: undefined }), pages: once(objects) }
}
