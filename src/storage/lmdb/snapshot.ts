// Snapshots of a data directory: one file with all entries and their history, as of one moment. A snapshot is saved while
// a server has the directory open, and restored to a new directory.
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createFolder } from '../../base/files/create-folder.js'
import { StorageError } from '../storage-error.js'
import type { Revision } from '../store.js'
import { JOURNAL_FILE, LOCK_FILE, openDataDirectory } from './disk/data-directory.js'
import { checkDataFile } from './disk/data-file.js'
import { lockHolder } from './disk/directory-lock.js'
import { readJournal } from './disk/journal-file.js'
import type { JournalRecord } from './disk/journal-record.js'
import { problemsOf } from './integrity.js'
import { findWrites, isUnbroken } from './journal.js'
import { corrupt, openTables, putEvents, randomId, readState, STATE } from './layout.js'

export interface Snapshot {
  /** The revision of the latest write in it. */
  readonly revision: Revision
  readonly entries: number
}

const DATA_FILE = 'store.mdb'
const MAX_READS = 100

/**
 * Whether the process that has the directory open seems to be this one: it is in another container, where it has the same id.
 * LMDB tells readers apart by their ids.
 */
export function isHeldByOurId(directory: string): boolean {
  try {
    return lockHolder(join(resolve(directory), LOCK_FILE)) === process.pid
  } catch {
    return false // nothing has opened it
  }
}

/** Saves all that was acknowledged before the call. `file` is replaced at once, or not at all. */
export async function saveSnapshot(directory: string, file: string): Promise<Snapshot> {
  checkFile(join(resolve(directory), DATA_FILE), `${directory} is not a data directory`)
  createFolder(dirname(resolve(file)))
  // LMDB creates the file with the rights that the process gives to files. Here no other user reaches it.
  const folder = mkdtempSync(`${resolve(file)}.`)
  const fresh = join(folder, DATA_FILE)
  try {
    const journaled = await copyWhileInUse(directory, fresh).catch((error: unknown) => {
      if (error instanceof StorageError) throw error
      // LMDB's errors are a text of the system, such as that there is no space.
      const reason = error instanceof Error ? error.message : String(error)
      throw new StorageError('unavailable', `nothing was saved to ${file}: ${reason}`, undefined, error)
    })
    // The objects include Secrets.
    chmodSync(fresh, 0o600)
    await addWrites(fresh, journaled)
    sync(fresh)
    const snapshot = await describeSnapshot(fresh)
    renameSync(fresh, resolve(file))
    sync(dirname(resolve(file)))
    return snapshot
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Copies the tables while another process may write to them; what is in the journal only is returned. */
async function copyWhileInUse(directory: string, copy: string): Promise<readonly JournalRecord[]> {
  const tables = openTables(join(resolve(directory), DATA_FILE), { readOnly: true })
  try {
    // First, since writes leave the journal only when they are in the tables.
    const journaled = readUnbroken(join(resolve(directory), JOURNAL_FILE), readState(tables).epoch)
    // LMDB copies the state of one read transaction.
    await tables.root.backup(copy, true)
    return journaled
  } finally {
    await tables.root.close()
  }
}

/** A server may write to the journal while it is read. Then it is read again. Records before `epoch` are in the tables. */
function readUnbroken(file: string, epoch: number): readonly JournalRecord[] {
  for (let i = 0; i < MAX_READS; i++) {
    const records = readJournal(file, false).filter(record => record.epoch >= epoch)
    if (isUnbroken(records)) return records
  }
  throw corrupt('the journal is damaged')
}

async function addWrites(file: string, journaled: readonly JournalRecord[]): Promise<void> {
  const tables = openTables(file)
  try {
    const { events } = findWrites(tables, journaled)
    const state = readState(tables)
    const revision = state.revision + events.length
    await tables.root.batch(() => putEvents(tables, events, { ...state, revision, epoch: state.epoch + 1 }))
  } finally {
    await tables.root.close()
  }
}

/** Creates a data directory from a snapshot. The directory must be empty or not exist. */
export async function restoreSnapshot(file: string, directory: string): Promise<Snapshot> {
  checkFile(resolve(file), `${file} is not a snapshot`)
  // A restore that was interrupted is repeated.
  const target = openDataDirectory(directory, { replacesUnfinished: true })
  try {
    if (!target.isNew) {
      throw new StorageError('directory-format', `${directory} has data already; name an empty directory, or a new one`)
    }
    copyFileSync(resolve(file), target.file, constants.COPYFILE_FICLONE)
    chmodSync(target.file, 0o600)
    sync(target.file)
    const snapshot = await describeSnapshot(target.file).catch((error: unknown) => {
      rmSync(target.file, { force: true })
      const reason = error instanceof Error ? error.message : String(error)
      throw new StorageError('directory-unreadable', `${file} is not a snapshot: ${reason}`, undefined, error)
    })
    await changeId(target.file)
    target.markComplete()
    return snapshot
  } finally {
    target.release()
  }
}

/** The journals of the directory that was saved, and of others that are restored from the snapshot, are not its own. */
async function changeId(file: string): Promise<void> {
  const tables = openTables(file)
  try {
    await tables.meta.put(STATE, { ...readState(tables), id: randomId() })
  } finally {
    await tables.root.close()
  }
}

/** Reads a snapshot whole, and so finds a file that is none, or is damaged. */
async function describeSnapshot(file: string): Promise<Snapshot> {
  const tables = openTables(file)
  try {
    const [problem] = problemsOf(tables)
    if (problem !== undefined) throw corrupt(problem)
    return {
      revision: readState(tables).revision,
      entries: (tables.current.getStats() as { entryCount: number }).entryCount,
    }
  } finally {
    await tables.root.close()
  }
}

function checkFile(file: string, problem: string): void {
  const found = checkDataFile(file)
  if (found) throw new StorageError('directory-unreadable', `${problem}: ${file} ${found}`)
}

function sync(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
