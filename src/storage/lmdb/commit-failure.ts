// Why a commit failed, what that means for its writes, and whether more can be written afterwards.
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { StorageError } from '../storage-error.js'
import { isNoSpace, noSpace } from './disk-space.js'
import { readState, type StoreState, type Tables } from './layout.js'

export interface CommitFailure {
  /** The answer to every write of the group. */
  readonly error: StorageError
  /** Set when nothing can be written until the folder is opened again: the answer to later writes. */
  readonly fatal?: StorageError
}

/** Called when nothing else writes. `acknowledged` is the state before the group. */
export async function failureOf(thrown: unknown, tables: Tables, acknowledged: StoreState): Promise<CommitFailure> {
  if (thrown instanceof StorageError) return { error: thrown } // before LMDB had anything to do with it
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
        `nothing can be written since the disk failed; open the data folder again: ${reason}`,
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
 * lmdb rejects with a general error that holds a second promise, which it rejects with the real one in the same turn,
 * or never. That promise must not be left without someone to listen.
 */
async function causeOf(thrown: unknown): Promise<unknown> {
  const promised = (thrown as { commitError?: Promise<never> } | undefined)?.commitError
  if (!promised) return thrown
  const turn = new Promise(resolve => setImmediate(resolve, thrown))
  return Promise.race([promised.catch((cause: unknown) => cause), turn])
}

/** Whether the file is surely as it was before the commit. Where LMDB itself is not sure, it takes no more writes. */
function isUntouched(tables: Tables, { revision, compacted }: StoreState): boolean {
  try {
    tables.root.resetReadTxn()
    // Beginning a transaction fails after such a failure. Left to the write thread, that would never be reported.
    tables.root.transactionSync(() => {})
    const state = readState(tables)
    return state.revision === revision && state.compacted === compacted
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

/** The room that a group may take. */
const ROOM = 64 * 1024 * 1024

/** LMDB says EIO when a write came to an end halfway, which is how the last room on a disk is used up. */
function isFull(file: string): boolean {
  const trial = `${file}-trial`
  try {
    const { bavail, bsize } = statfsSync(file)
    if (bavail * bsize < ROOM) return true
    const fd = openSync(trial, 'w')
    try {
      writeSync(fd, Buffer.alloc(1), 0, 1, statSync(file).size + ROOM)
    } finally {
      closeSync(fd)
    }
    return false
  } catch (error) {
    return isNoSpace(error)
  } finally {
    rmSync(trial, { force: true })
  }
}
