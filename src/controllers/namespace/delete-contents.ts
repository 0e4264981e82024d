// Deleting everything in a folder of the store, however much that is: page by page, with the next page begun while the
// last one is on its way to the disk, and everybody else gets a turn in between.

import { setImmediate as turn } from 'node:timers/promises'
import type { Kind } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf, type ObjectMeta } from '../../meta/object/object-meta.js'
import { millisOf } from '../../meta/values/time.js'
import { type ObjectEntry, objectKeyOf } from '../../objects/object-store.js'
import { FIRST_LIMIT, limitAfter } from '../../storage/page-limit.js'
import { type ApiContext } from '../../verbs/api-context.js'
import type { SystemObjects } from '../../verbs/system-writes.js'

/** How many entries are read at a time; two pages of them are under way at most. */
export const PAGE = 500
const PAGE_LIMITS = { entries: PAGE, bytes: 8 * 1024 * 1024 }
/** How many deletions are begun before others get a turn: a millisecond or two. */
export const MAX_CONCURRENT = 16

/** Whether it is empty then; `held` is told of what is still there because something holds it. */
export async function emptyFolder(
  context: ApiContext,
  objects: SystemObjects,
  kind: Kind,
  prefix: string,
  held: (object: ApiObject) => void,
): Promise<boolean> {
  const { cache } = context.objectStore(kind)

  /** What was given time to end, and has not, is not waited for: perhaps nobody is there who would end it. */
  async function deleteInTime(entry: ObjectEntry): Promise<ApiObject | undefined> {
    const left = await objects.deleteEntry(kind, entry, { propagationPolicy: 'Background' })
    if (!left || !isOverdue(metaOf(left), context.now())) return left
    const { namespace, name } = objectKeyOf(kind, entry.key)
    return objects.delete(kind, namespace, name, { propagationPolicy: 'Background', gracePeriodSeconds: 0 })
  }

  const failures: unknown[] = []

  async function deleteOne(entry: ObjectEntry): Promise<void> {
    try {
      const left = await deleteInTime(entry)
      if (left) held(left)
    } catch (error) {
      failures.push(error)
    }
  }

  /** All of them together, so that a store that writes in groups makes one of them. */
  async function deletePage(entries: readonly ObjectEntry[]): Promise<void> {
    const deleting: Promise<void>[] = []
    for (let i = 0; i < entries.length && failures.length === 0; i += MAX_CONCURRENT) {
      deleting.push(...entries.slice(i, i + MAX_CONCURRENT).map(deleteOne))
      await turn()
    }
    await Promise.all(deleting)
  }

  let limit = FIRST_LIMIT
  let startAfter: string | undefined
  let before: Promise<void> = Promise.resolve()
  while (failures.length === 0) {
    const { entries } = await cache.range(prefix, { limit, startAfter })
    if (entries.length === 0) break
    const deleting = deletePage(entries)
    await before
    before = deleting
    startAfter = entries.at(-1)!.key
    limit = limitAfter(entries, PAGE_LIMITS)
  }
  await before
  if (failures.length > 0) throw failures[0]
  // Whatever came or stayed meanwhile, for whatever reason.
  return startAfter === undefined || (await cache.range(prefix, { limit: 1 })).entries.length === 0
}

const isOverdue = ({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: ObjectMeta, now: number): boolean =>
  deletionTimestamp !== undefined && deletionGracePeriodSeconds > 0 && millisOf(deletionTimestamp) <= now
