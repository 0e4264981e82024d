// Fills an attribute index with the entries that exist, while events change it already.
import { nextTurn } from '../../base/turns.js'
import { compareKeys } from '../keys.js'
import type { Revision } from '../store.js'
import { type AttributeIndex, createAttributeIndex } from './attribute-index.js'
import type { AttributeSource, CachedEntry, CachedEvent } from './entry-attributes.js'

export interface IndexBuild<F> {
  /** Undefined until all entries with keys before `end` are in it. */
  indexBefore(end: string): AttributeIndex<F> | undefined
  /** Whether all entries with keys before this one are in it. */
  hasReached(key: string): boolean
  /** Resolves when all entries before `end` are in it, or when it has failed. */
  whenReached(end: string): Promise<void>
  apply(event: CachedEvent<F>): void
  stop(): void
}

/** The latest entries after a key, as of a revision. */
export type ReadPage<F> = (startAfter: string | undefined) => Promise<{
  readonly revision: Revision
  readonly entries: readonly CachedEntry<F>[]
  readonly remaining: number
}>

/** `onFailure` is called if the entries could not be read. */
export function startIndexBuild<F>(
  source: AttributeSource,
  readPage: ReadPage<F>,
  onFailure: () => void,
): IndexBuild<F> {
  const index = createAttributeIndex<F>(source)
  /** The keys that were written meanwhile, with the revision of the last write. */
  const written = new Map<string, Revision>()
  /** Entries are added in the order of their keys: those up to this one are in the index. */
  let last: string | undefined
  let isComplete = false
  /** It gets no events any more. */
  let isFailed = false
  let isStopped = false
  const waiting = new Set<{ readonly end: string; readonly resolve: () => void }>()

  const hasReached = (key: string): boolean =>
    !isFailed && (isComplete || (last !== undefined && compareKeys(key, last) <= 0))

  function wake(isOver: boolean): void {
    for (const waiter of waiting) {
      if (!isOver && !hasReached(waiter.end)) continue
      waiting.delete(waiter)
      waiter.resolve()
    }
  }

  async function fill(): Promise<void> {
    for (;;) {
      const page = await readPage(last)
      if (isStopped) return
      for (const entry of page.entries) {
        // A later write is in the index already, and the entry on this page is out of date.
        if ((written.get(entry.key) ?? 0) <= page.revision) index.add(entry)
      }
      last = page.entries.at(-1)?.key
      if (page.remaining === 0 || last === undefined) break
      wake(false)
      await nextTurn()
    }
    isComplete = true
    written.clear()
  }

  let isOver = false
  void fill()
    .catch(() => {
      isFailed = true
      onFailure()
    })
    .finally(() => {
      isOver = true
      wake(true)
    })

  return {
    indexBefore: end => (hasReached(end) ? index : undefined),
    hasReached,
    whenReached(end) {
      if (isOver || hasReached(end)) return Promise.resolve()
      return new Promise(resolve => void waiting.add({ end, resolve }))
    },
    apply(event) {
      if (!isComplete) written.set(event.key, event.revision)
      index.apply(event)
    },
    stop() {
      isStopped = true
    },
  }
}
