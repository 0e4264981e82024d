// All errors of storage: one error type with a code, which upper layers translate into a Status.
import type { Revision } from './revision.js'

export type StorageErrorCode =
  // The arguments are invalid.
  | 'invalid-key'
  | 'invalid-prefix'
  | 'invalid-limit'
  | 'invalid-revision'
  | 'key-too-large'
  | 'value-too-large'
  // The requested revision is not available.
  | 'compacted'
  | 'future-revision'
  // The data is not the one that was read before: a backup was restored.
  | 'data-replaced'
  // Another entry that the write depends on has changed; nothing was written.
  | 'guard-changed'
  // The watcher did not keep up, or its sink threw.
  | 'slow-watcher'
  | 'sink-failed'
  // The store cannot do it now. After `outcome-unknown`, and only then, a write may or may not have been applied.
  | 'no-space'
  | 'unavailable'
  | 'outcome-unknown'
  | 'closed'
  | 'corrupt'
  // The value cannot be encrypted now; nothing was written.
  | 'not-encrypted'
  // The data directory cannot be opened.
  | 'directory-locked'
  | 'directory-unreadable'
  | 'directory-format'

export class StorageError extends Error {
  override readonly name = 'StorageError'

  constructor(
    readonly code: StorageErrorCode,
    message: string,
    /** For `compacted` and `future-revision`: the nearest revision that is available, if known. */
    readonly revision?: Revision,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause })
  }
}

export const compacted = (requested: Revision, oldest: Revision): StorageError =>
  new StorageError('compacted', `revision ${requested} is no longer available: history begins at ${oldest}`, oldest)

export const futureRevision = (requested: Revision, current: Revision): StorageError =>
  new StorageError('future-revision', `revision ${requested} has not happened yet: the latest is ${current}`, current)

export const guardChanged = (key: string): StorageError =>
  new StorageError('guard-changed', `nothing was written: the entry ${JSON.stringify(key)} has changed`)

export const closed = (): StorageError => new StorageError('closed', 'the store is closed')
