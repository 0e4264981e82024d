// Compaction of history. First the new start of history is recorded, so that reads from before it are refused. Then the
// entries before it are removed, a few with each group of writes.
import type { StorageError } from '../storage-error.js'
import type { Revision } from '../store.js'
import { isMilestone, type StoreState, type Tables } from './layout.js'
import type { GroupSize, MaintenanceStep } from './writer.js'

export interface Compaction {
  /** Resolves when history begins at `revision` or later. */
  request(revision: Revision): Promise<void>
  /** Retries removals that failed before. */
  resume(): void
  /** `writes` are those of the group that the step is committed with: history is removed faster than it grows. */
  nextStep(writes: GroupSize): MaintenanceStep | undefined
  /** Leaves the remaining removals to the next time that the directory is opened. */
  stop(): void
}

/** The most that one step removes beside a small group of writes, so that it does not delay it. */
const STEP_ENTRIES = 256
const STEP_BYTES = 4 * 1024 * 1024
/** Beside a large group, this many times what the group adds. */
const STEP_FACTOR = 2

interface Request {
  readonly revision: Revision
  resolve(): void
  reject(error: StorageError): void
}

export interface CompactionContext {
  readonly tables: Tables
  state(): StoreState
  /** Reports that a step is ready. */
  wake(): void
  /** History now begins at `revision`. */
  forgotten(revision: Revision): void
}

export function createCompaction({ tables, state, wake, forgotten }: CompactionContext): Compaction {
  let requests: Request[] = []
  /** There may be entries to remove; at first, those that remained when the directory was closed. */
  let removing = true
  let stepEntries = STEP_ENTRIES
  /** Something was removed since the last `reuseStep`. */
  let removed = false
  /** The smallest step could not be committed, even alone: wait for the next request. */
  let paused = false
  let stopped = false

  /** Records the new start of history, for all requests so far. */
  function recordStep(): MaintenanceStep {
    const served = requests
    requests = []
    const revision = Math.max(state().compacted, ...served.map(request => request.revision))
    return {
      compacted: revision,
      committed() {
        removing = true
        // Pages that a process read which was killed, such as a snapshot, would never be used again.
        tables.root.readerCheck()
        forgotten(revision)
        for (const { resolve } of served) resolve()
      },
      failed(error) {
        for (const { reject } of served) reject(error)
      },
    }
  }

  /** Removes the oldest log entries, each with its milestone. */
  function removeStep(writes: GroupSize): MaintenanceStep | undefined {
    // After a failure for lack of space, a small step is tried, whatever the group.
    const maxEntries = stepEntries < STEP_ENTRIES ? stepEntries : Math.max(STEP_ENTRIES, STEP_FACTOR * writes.entries)
    const maxBytes = Math.max(STEP_BYTES, STEP_FACTOR * writes.bytes)
    const dead: { readonly revision: Revision; readonly key: string; readonly milestone: boolean }[] = []
    let bytes = 0
    for (const { key: revision, value: record } of tables.log.getRange({ start: 0, end: state().compacted + 1 })) {
      dead.push({ revision, key: record.key, milestone: isMilestone(revision, record) })
      bytes += record.previous?.value.length ?? 0
      if (dead.length >= maxEntries || bytes >= maxBytes) break
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
        // On a full disk a smaller step, or this one without the writes, may fit, and it frees space.
        if (!alone) return
        if (stepEntries > 1) stepEntries /= 2
        else paused = true
      },
    }
  }

  /** LMDB reuses freed pages only from the next but one transaction on, so a full disk needs one empty one in between. */
  function reuseStep(): MaintenanceStep | undefined {
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
    nextStep(writes) {
      if (requests.length > 0) return recordStep()
      if (!removing || paused || stopped) return undefined
      let step: MaintenanceStep | undefined
      try {
        step = removeStep(writes)
      } catch {
        // Reads of the damaged entries report the error. Entries that are not removed only take space.
      }
      if (!step) removing = false
      return step ?? reuseStep()
    },
    stop() {
      stopped = true
    },
  }
}
