// Limits a store's history by age: it notes the latest revision at intervals and compacts to the one noted `historyMs`
// ago. Time is measured by the monotonic clock: a jump of the time of day must not end watches. For stores that only this process uses; on etcd, etcd-compactor.ts does the same together with all other
// processes.
import { StorageError } from '../storage-error.js'
import type { Revision, Store } from '../store.js'

export const HISTORY_MS = 5 * 60_000

export interface HistoryKeeper {
  stop(): void
}

/** Keeps at least `historyMs` of history, checking every tenth of that time. */
export function keepHistory(store: Store, historyMs = HISTORY_MS): HistoryKeeper {
  /** Latest revisions with the time at which they were noted, oldest first. */
  const notes: { time: number; revision: Revision }[] = []
  let busy = false

  async function look(): Promise<void> {
    const now = performance.now()
    notes.push({ time: now, revision: await store.revision() })
    const due = notes.findLastIndex(note => note.time <= now - historyMs)
    if (due === -1) return
    const { revision } = notes[due]!
    notes.splice(0, due + 1)
    await store.compact(revision)
  }

  const timer = setInterval(() => {
    if (busy) return
    busy = true
    look()
      .catch((error: unknown) => {
        // The store may be full or closing. A longer history does no harm, and the next check tries again.
        if (!(error instanceof StorageError)) throw error
      })
      .finally(() => {
        busy = false
      })
  }, historyMs / 10)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
