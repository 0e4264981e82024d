// Deletes all objects under a key prefix, however many: page by page, where the next page starts while the last one is
// written to disk, and other requests run in between.

import { nextTurn } from '../../base/turns.js'
import type { Kind } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf, type ObjectMeta } from '../../meta/object/object-meta.js'
import { millisOf } from '../../meta/values/time.js'
import { type ObjectEntry, objectKeyOf } from '../../objects/object-store.js'
import { FIRST_LIMIT, limitAfter } from '../../storage/page-limit.js'
import { type ApiContext } from '../../verbs/api-context.js'
import type { SystemObjects } from '../../verbs/system-writes.js'

/** The entries of a page; at most two pages are in progress. */
export const PAGE = 500
const PAGE_LIMITS = { entries: PAGE, bytes: 8 * 1024 * 1024 }
/** After starting this many deletions, which takes a millisecond or two, the event loop runs. */
export const MAX_CONCURRENT = 16

/** Returns whether the prefix is empty afterwards. `held` is called for objects that finalizers or grace periods hold. */
export async function deletePrefix(
  context: ApiContext,
  objects: SystemObjects,
  kind: Kind,
  prefix: string,
  held: (object: ApiObject) => void,
): Promise<boolean> {
  const { cache } = context.objectStore(kind)

  /** Deletes at once what has outlived its grace period: there may be no kubelet that would end it. */
  async function deleteWithGrace(entry: ObjectEntry): Promise<ApiObject | undefined> {
    const left = await objects.deleteEntry(kind, entry, { propagationPolicy: 'Background' })
    if (!left || !isOverdue(metaOf(left), context.now())) return left
    const { namespace, name } = objectKeyOf(kind, entry.key)
    return objects.delete(kind, namespace, name, { propagationPolicy: 'Background', gracePeriodSeconds: 0 })
  }

  const failures: unknown[] = []

  async function deleteOne(entry: ObjectEntry): Promise<void> {
    try {
      const left = await deleteWithGrace(entry)
      if (left) held(left)
    } catch (error) {
      failures.push(error)
    }
  }

  /** Starts all deletions together, so that a store that commits in groups needs one commit. */
  async function deletePage(entries: readonly ObjectEntry[]): Promise<void> {
    const deleting: Promise<void>[] = []
    for (let i = 0; i < entries.length && failures.length === 0; i += MAX_CONCURRENT) {
      deleting.push(...entries.slice(i, i + MAX_CONCURRENT).map(deleteOne))
      await nextTurn()
    }
    await Promise.all(deleting)
  }

  let limit = FIRST_LIMIT
  let startAfter: string | undefined
  let before: Promise<void> = Promise.resolve()
  while (failures.length === 0) {
    const { entries } = await cache.range(prefix, { limit, startAfter, isUncounted: true })
    if (entries.length === 0) break
    const deleting = deletePage(entries)
    await before
    before = deleting
    startAfter = entries.at(-1)!.key
    limit = limitAfter(entries, PAGE_LIMITS)
  }
  await before
  if (failures.length > 0) throw failures[0]
  // Objects may have been created meanwhile, or may still be there.
  return startAfter === undefined || (await cache.range(prefix, { limit: 1, isUncounted: true })).entries.length === 0
}

const isOverdue = ({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: ObjectMeta, now: number): boolean =>
  deletionTimestamp !== undefined && deletionGracePeriodSeconds > 0 && millisOf(deletionTimestamp) <= now
