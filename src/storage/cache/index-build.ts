// Fills an attribute index with the entries that exist, while events change it already.
import type { Revision } from '../store.js'
import { type AttributeIndex, createAttributeIndex } from './attribute-index.js'
import type { AttributeSource, CachedEntry, CachedEvent } from './entry-attributes.js'

export interface IndexBuild<F> {
  /** Undefined until all entries are in it. */
  readonly index: AttributeIndex<F> | undefined
  /** Resolves when it is complete, or has failed. */
  readonly finished: Promise<void>
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
  let isComplete = false
  let isStopped = false

  async function fill(): Promise<void> {
    let startAfter: string | undefined
    for (;;) {
      const page = await readPage(startAfter)
      if (isStopped) return
      for (const entry of page.entries) {
        // A later write is in the index already, and the entry on this page is out of date.
        if ((written.get(entry.key) ?? 0) <= page.revision) index.add(entry)
      }
      startAfter = page.entries.at(-1)?.key
      if (page.remaining === 0 || startAfter === undefined) break
      await new Promise(resolve => setImmediate(resolve)) // other requests get a turn
    }
    isComplete = true
    written.clear()
  }

  const finished = fill().catch(onFailure)

  return {
    finished,
    get index() {
      return isComplete ? index : undefined
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
