// Forgetting history. First the new beginning of history is put on record, from when on nobody can ask for what came
// before it; then what nobody can ask for is removed, a few entries with each group of writes.
import type { StorageError } from '../storage-error.js'
import type { Revision } from '../store.js'
import { isMilestone, type StoreState, type Tables } from './layout.js'
import type { Chore } from './writer.js'

export interface Compaction {
  /** Resolves when history begins at `revision` or later. */
  request(revision: Revision): Promise<void>
  /** Takes up again what could not be removed before. */
  resume(): void
  nextStep(): Chore | undefined
  /** Leaves what is not yet removed to the next time that the folder is opened. */
  stop(): void
}

/** How much one step removes, so that the group that it goes along with is not held up. */
const STEP_ENTRIES = 256
const STEP_BYTES = 4 * 1024 * 1024

interface Request {
  readonly revision: Revision
  resolve(): void
  reject(error: StorageError): void
}

export interface CompactionContext {
  readonly tables: Tables
  state(): StoreState
  /** There is a next step. */
  wake(): void
  /** History now begins at `revision`. */
  forgotten(revision: Revision): void
}

export function createCompaction({ tables, state, wake, forgotten }: CompactionContext): Compaction {
  let requests: Request[] = []
  /** There may be entries to remove; at first, those that were left when the folder was closed. */
  let removing = true
  let stepEntries = STEP_ENTRIES
  /** Something was removed since the last `settleStep`. */
  let removed = false
  /** A step could not be committed, alone and however small: leave it until the next request. */
  let paused = false
  let stopped = false

  /** Puts the beginning of history on record, for all who asked so far. */
  function recordStep(): Chore {
    const served = requests
    requests = []
    const revision = Math.max(state().compacted, ...served.map(request => request.revision))
    return {
      compacted: revision,
      committed() {
        removing = true
        forgotten(revision)
        for (const { resolve } of served) resolve()
      },
      failed(error) {
        for (const { reject } of served) reject(error)
      },
    }
  }

  /** Removes the oldest log entries, each with its milestone. */
  function removeStep(): Chore | undefined {
    const dead: { readonly revision: Revision; readonly key: string; readonly milestone: boolean }[] = []
    let bytes = 0
    for (const { key: revision, value: record } of tables.log.getRange({ start: 0, end: state().compacted + 1 })) {
      dead.push({ revision, key: record.key, milestone: isMilestone(revision, record) })
      bytes += record.previous?.value.length ?? 0
      if (dead.length >= stepEntries || bytes >= STEP_BYTES) break
    }
    if (dead.length === 0) return undefined
    return {
      entries: dead.length,
      apply() {
        for (const { revision, key, milestone } of dead) {
          void tables.log.remove(revision)
          if (milestone) void tables.milestones.remove([key, revision])
        }
      },
      committed() {
        removed = true
        stepEntries = Math.min(STEP_ENTRIES, stepEntries * 2)
      },
      failed(_, alone) {
        // On a full disk there may be room for a smaller step, or for this one without the writes, and it makes some.
        if (!alone) return
        if (stepEntries > 1) stepEntries /= 2
        else paused = true
      },
    }
  }

  /** LMDB uses what a transaction set free from the next but one on: a full disk needs one in between. */
  function settleStep(): Chore | undefined {
    if (!removed) return undefined
    removed = false
    return { committed() {}, failed() {} }
  }

  return {
    request(revision) {
      return new Promise((resolve, reject) => {
        paused = false
        requests.push({ revision, resolve, reject })
        wake()
      })
    },
    resume() {
      if (!paused) return
      paused = false
      wake()
    },
    nextStep() {
      if (requests.length > 0) return recordStep()
      if (!removing || paused || stopped) return undefined
      let step: Chore | undefined
      try {
        step = removeStep()
      } catch {
        // Whoever reads what is damaged is told; what is not removed only takes room.
      }
      if (!step) removing = false
      return step ?? settleStep()
    },
    stop() {
      stopped = true
    },
  }
}
