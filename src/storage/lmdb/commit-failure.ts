// Classifies a failed commit: the error for its writes, and whether later writes are possible.
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { StorageError } from '../storage-error.js'
import { isNoSpace, noSpace } from './disk/disk-space.js'
import { isSameState, readState, type StoreState, type Tables } from './layout.js'

export interface CommitFailure {
  /** The error for every write of the group. */
  readonly error: StorageError
  /** Set when nothing can be written until the directory is opened again: the error for later writes. */
  readonly fatal?: StorageError
}

/** Must be called while no transaction runs. `acknowledged` is the state before the group. */
export async function failureOf(thrown: unknown, tables: Tables, acknowledged: StoreState): Promise<CommitFailure> {
  if (thrown instanceof StorageError) return { error: thrown } // thrown before the transaction began
  const cause = await causeOf(thrown)
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (!isUntouched(tables, acknowledged)) {
    return {
      error: new StorageError(
        'outcome-unknown',
        `the disk failed during a commit, whose writes may or may not have been applied: ${reason}`,
        undefined,
        cause,
      ),
      fatal: new StorageError(
        'unavailable',
        `nothing can be written since the disk failed; open the data directory again: ${reason}`,
        undefined,
        cause,
      ),
    }
  }
  const { path } = tables.root as unknown as { readonly path: string }
  if (isOutOfSpace(cause, path)) {
    return { error: noSpace(path, cause) }
  }
  return { error: new StorageError('unavailable', `nothing was written to ${path}: ${reason}`, undefined, cause) }
}

/**
 * lmdb rejects with a general error whose `commitError` is a second promise. That one rejects with the real cause in the
 * same turn, or never. It needs a handler, or Node.js reports an unhandled rejection.
 */
export async function causeOf(thrown: unknown): Promise<unknown> {
  const promised = (thrown as { commitError?: Promise<never> } | undefined)?.commitError
  if (!promised) return thrown
  const turn = new Promise(resolve => setImmediate(resolve, thrown))
  return Promise.race([promised.catch((cause: unknown) => cause), turn])
}

/** Whether the file is certainly as it was before the commit. If LMDB itself is not certain, it refuses writes. */
function isUntouched(tables: Tables, acknowledged: StoreState): boolean {
  try {
    tables.root.resetReadTxn()
    // After such a failure, beginning a transaction fails too. On the write thread that error would never be reported.
    tables.root.transactionSync(() => {})
    return isSameState(readState(tables), acknowledged)
  } catch {
    return false
  }
}

const { EIO, ENOSPC, EFBIG, EDQUOT } = constants.errno
const MDB_MAP_FULL = -30792
const NO_SPACE = new Set([MDB_MAP_FULL, ENOSPC, EFBIG, EDQUOT])

function isOutOfSpace(cause: unknown, file: string): boolean {
  const { code } = cause as { readonly code?: number }
  return code !== undefined && (NO_SPACE.has(code) || (code === EIO && isFull(file)))
}

/** The most that one group of writes can take. */
const GROUP_BYTES = 64 * 1024 * 1024

/** LMDB reports EIO for an incomplete write, which also happens when the last space on a disk is used up. */
function isFull(file: string): boolean {
  const trial = `${file}-trial`
  try {
    const { bavail, bsize } = statfsSync(file)
    if (bavail * bsize < GROUP_BYTES) return true
    const fd = openSync(trial, 'w')
    try {
      writeSync(fd, Buffer.alloc(1), 0, 1, statSync(file).size + GROUP_BYTES)
    } finally {
      closeSync(fd)
    }
    return false
  } catch (error) {
    return isNoSpace(error)
  } finally {
    removeTrial(trial)
  }
}

function removeTrial(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // The disk fails, which is why this was tried.
  }
}
