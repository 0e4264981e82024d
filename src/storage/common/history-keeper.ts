// Limits a store's history by age: it notes the latest revision at intervals and compacts to the one noted `historyMs`
// ago. Time is what passes by the clock: a jump of the time of day must not end watches, but a test that moves the clock makes
// all history older. For stores that only this process uses; on etcd, etcd-compactor.ts does the same together with all other
// processes.
import { SYSTEM_CLOCK, type TimerClock } from '../../base/clock.js'
import { StorageError } from '../storage-error.js'
import type { Revision, Store } from '../store.js'

export const HISTORY_MS = 5 * 60_000

export interface HistoryKeeper {
  stop(): void
}

/** Keeps at least `historyMs` of history, checking every tenth of that time. */
export function keepHistory(store: Store, historyMs = HISTORY_MS, clock: TimerClock = SYSTEM_CLOCK): HistoryKeeper {
  /** Latest revisions with the time at which they were noted, oldest first. */
  const notes: { time: number; revision: Revision }[] = []
  let busy = false

  function note(): void {
    const revision = store.revisionNow!()
    // An earlier note of the same revision says more.
    if (notes.at(-1)?.revision !== revision) notes.push({ time: clock.elapsed(), revision })
  }

  async function look(): Promise<void> {
    note()
    const due = notes.findLastIndex(({ time }) => time <= clock.elapsed() - historyMs)
    if (due === -1) return
    await store.compact(notes[due]!.revision)
    notes.splice(0, due + 1)
  }

  function tick(): void {
    cancel = clock.after(historyMs / 10, tick)
    if (busy) return
    busy = true
    look()
      .catch(ignoreStorageError)
      .finally(() => {
        busy = false
      })
  }

  let cancel = clock.after(historyMs / 10, tick)
  const ignoreMoves = clock.beforeMove?.(() => {
    try {
      note()
    } catch (error) {
      ignoreStorageError(error)
    }
  })
  return {
    stop() {
      cancel()
      ignoreMoves?.()
    },
  }
}

/** The store may be full or closing. A longer history does no harm, and the next check tries again. */
function ignoreStorageError(error: unknown): void {
  if (!(error instanceof StorageError)) throw error
}
