// deletecollection: every object that a list would show, deleted one by one, a few at a time.

import { hasReason } from '../../meta/errors/status.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ListOptions } from '../../meta/options/list-options.js'
import type { DeleteOptions } from '../../meta/options/write-options.js'
import { type ObjectView } from '../../objects/object-view.js'
import { type Target } from '../../request/target.js'
import { type UserInfo } from '../../request/user-info.js'
import { type ApiContext } from '../api-context.js'
import { listObjects, once } from '../read/list.js'
import type { ListResult } from '../result.js'
import { remove } from './delete.js'

const AT_A_TIME = 16

/** Answers with the list of what was deleted, each object as it was before. */
export async function deleteCollection(
  context: ApiContext,
  target: Target,
  listOptions: ListOptions,
  options: DeleteOptions,
  user: UserInfo,
): Promise<ListResult> {
  const list = await listObjects(context, target, { ...listOptions, watch: false })
  const objects: ObjectView[] = []
  for await (const page of list.pages) objects.push(...page)
  const warnings: string[] = []
  const rest = objects.values()
  const worker = async () => {
    for (const shown of rest) {
      const { namespace = '', name = '' } = metaOf(shown.value())
      try {
        await remove(context, { ...target, namespace, name }, options, user, warnings)
      } catch (error) {
        // Somebody else was faster.
        if (!hasReason(error, 'NotFound')) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  return { ...list, warnings, pages: once(objects) }
}
