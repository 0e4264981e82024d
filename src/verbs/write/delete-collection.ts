// deletecollection: every object that a list would show, deleted one by one, a few at a time.

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

const AT_A_TIME = 16

/** Answers with the list of what was deleted, each object as it was before. */
export async function deleteCollection(
  context: ApiContext,
  request: ResourceRequest<DeleteOptions>,
  listOptions: ListOptions,
): Promise<ListResult> {
  const { target, options } = request
  const list = await listObjects(context, forResource(request, target, { ...listOptions, watch: false }))
  const objects: ObjectView[] = []
  for await (const page of list.pages) objects.push(...page)
  const rest = objects.values()
  const worker = async () => {
    for (const shown of rest) {
      const { namespace = '', name = '' } = metaOf(shown.value())
      try {
        await remove(context, forResource(request, { ...target, namespace, name }, options))
      } catch (error) {
        // Somebody else was faster.
        if (!hasReason(error, 'NotFound')) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  return { ...list, pages: once(objects) }
}
