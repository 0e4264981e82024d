// deletecollection: every object that a list would show, deleted one by one, a few at a time.
import type { ListOptions } from '../meta/list-options.js'
import { metaOf } from '../meta/object-meta.js'
import { hasReason } from '../meta/status.js'
import type { DeleteOptions } from '../meta/write-options.js'
import type { ListAnswer, Shown } from './answer.js'
import { remove } from './delete.js'
import { listObjects, once } from './list.js'
import type { Caller, ResourceContext, Target } from './resource-context.js'

const AT_A_TIME = 16

/** Answers with the list of what was deleted, each object as it was before. */
export async function deleteCollection(
  context: ResourceContext,
  target: Target,
  listOptions: ListOptions,
  options: DeleteOptions,
  caller: Caller,
): Promise<ListAnswer> {
  const list = await listObjects(context, target, { ...listOptions, watch: false })
  const objects: Shown[] = []
  for await (const page of list.pages) objects.push(...page)
  const warnings: string[] = []
  const rest = objects.values()
  const worker = async () => {
    for (const shown of rest) {
      const { namespace = '', name = '' } = metaOf(shown.value())
      try {
        await remove(context, { ...target, namespace, name }, options, caller, warnings)
      } catch (error) {
        // Somebody else was faster.
        if (!hasReason(error, 'NotFound')) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  return { ...list, warnings, pages: once(objects) }
}
