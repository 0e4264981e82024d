// Deleting everything in a folder of the store, however much that is: page by page, some objects at once, and everybody
// else gets a turn in between.
import { setImmediate as turn } from 'node:timers/promises'
import type { ApiObject, Kind } from '../kinds/kind.js'
import { metaOf, type ObjectMeta } from '../meta/object-meta.js'
import { millisOf } from '../meta/time.js'
import { placeOf } from '../resources/kind-store.js'
import type { ResourceContext } from '../resources/resource-context.js'
import type { SystemObjects } from './system-objects.js'

/** How many entries are read at a time. */
export const PAGE = 500
/** How many objects are deleted at a time; a store that writes in groups makes one of them. */
export const AT_ONCE = 32

/** Whether it is empty then; `held` is told of what is still there because something holds it. */
export async function emptyFolder(
  context: ResourceContext,
  objects: SystemObjects,
  kind: Kind,
  folder: string,
  held: (object: ApiObject) => void,
): Promise<boolean> {
  const { cache } = context.storeOf(kind)
  let startAfter: string | undefined

  /** What was given time to end, and has not, is not waited for: perhaps nobody is there who would end it. */
  async function deleteInTime(namespace: string, name: string): Promise<ApiObject | undefined> {
    const left = await objects.delete(kind, namespace, name, { propagationPolicy: 'Background' })
    if (!left || !isOverdue(metaOf(left), context.now())) return left
    return objects.delete(kind, namespace, name, { propagationPolicy: 'Background', gracePeriodSeconds: 0 })
  }

  for (;;) {
    const page = await cache.range(folder, { limit: PAGE, startAfter })
    if (page.entries.length === 0) break
    const rest = page.entries.values()
    const worker = async () => {
      for (const { key } of rest) {
        const { namespace, name } = placeOf(kind, key)
        const left = await deleteInTime(namespace, name)
        if (left) held(left)
        // A store in memory would be done with all of it before anybody else is heard.
        await turn()
      }
    }
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, page.entries.length) }, worker))
    startAfter = page.entries.at(-1)!.key
  }
  // Whatever came or stayed meanwhile, for whatever reason.
  return startAfter === undefined || (await cache.range(folder, { limit: 1 })).entries.length === 0
}

const isOverdue = ({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: ObjectMeta, now: number): boolean =>
  deletionTimestamp !== undefined && deletionGracePeriodSeconds > 0 && millisOf(deletionTimestamp) <= now
