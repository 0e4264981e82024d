// Keeps a store's history for a while and no longer: notes now and then which revision is the latest, and compacts to
// the one that was the latest so long ago. For stores whose only user is this process; on etcd, etcd-compactor.ts does
// the same together with all other processes there.
import { StorageError } from '../storage-error.js'
import type { Revision, Store } from '../store.js'

export const HISTORY_MS = 5 * 60_000

export interface HistoryKeeper {
  stop(): void
}

/** Starts keeping at least `historyMs` of history, looking every tenth of that time. */
export function keepHistory(store: Store, historyMs = HISTORY_MS): HistoryKeeper {
  /** What was the latest revision when, oldest first. */
  const notes: { time: number; revision: Revision }[] = []
  let busy = false

  async function look(): Promise<void> {
    const now = Date.now()
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
        // A store that is full or closing is not worse off with a longer history; the next look tries again.
        if (!(error instanceof StorageError)) throw error
      })
      .finally(() => {
        busy = false
      })
  }, historyMs / 10)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
