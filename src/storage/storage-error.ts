// Everything that storage refuses or fails at, as one error type with a code that upper rooms turn into a Status.
import type { Revision } from './revision.js'

export type StorageErrorCode =
  // The caller's fault: the arguments can never work.
  | 'invalid-key'
  | 'invalid-folder'
  | 'invalid-limit'
  | 'invalid-revision'
  | 'key-too-large'
  | 'value-too-large'
  // The revision asked for is out of reach.
  | 'compacted'
  | 'future-revision'
  // A watcher that did not keep up, or whose sink threw.
  | 'slow-watcher'
  | 'sink-failed'
  // The store cannot do it now. Only `outcome-unknown` leaves open whether a write was applied.
  | 'no-space'
  | 'unavailable'
  | 'outcome-unknown'
  | 'closed'
  | 'corrupt'
  // The data folder cannot be opened.
  | 'folder-locked'
  | 'folder-unreadable'
  | 'folder-format'

export class StorageError extends Error {
  override readonly name = 'StorageError'

  constructor(
    readonly code: StorageErrorCode,
    message: string,
    /** For `compacted` and `future-revision`: the nearest revision that would have worked, where it is known. */
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

export const closed = (): StorageError => new StorageError('closed', 'the store is closed')
