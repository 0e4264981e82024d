// The folder on disk: what is in it, whose it is, and who may open it. A folder that cannot be opened is left exactly
// as it was found.
//
//   FORMAT           the version of what is in the folder; made last, so that it vouches for the rest
//   store.mdb        the tables, see layout.ts
//   store.mdb-lock   LMDB's own, for its readers
//   lock             held while the folder is open
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { StorageError } from '../storage-error.js'
import { checkDataFile } from './data-file.js'
import { isNoSpace, noSpace } from './disk-space.js'
import { type FolderLock, lockHolder, takeLock } from './folder-lock.js'

export interface DataFolder {
  /** The file for LMDB. */
  readonly file: string
  /** Nothing was ever written here. */
  readonly isNew: boolean
  /** Declares a new folder complete, once its tables are on disk. */
  vouch(): void
  release(): void
}

const FORMAT = 'binnacle-storage 1'
const FORMAT_FILE = 'FORMAT'
const NEW_FORMAT_FILE = 'FORMAT.new'
const DATA_FILE = 'store.mdb'
const READER_FILE = `${DATA_FILE}-lock`
const LOCK_FILE = 'lock'
const TRIAL_FILE = `${DATA_FILE}-trial`

/** What stands in a folder whose making was interrupted; a new file system brings `lost+found` along. */
const UNFINISHED = new Set([LOCK_FILE, DATA_FILE, READER_FILE, TRIAL_FILE, NEW_FORMAT_FILE, 'lost+found'])

export function openDataFolder(path: string): DataFolder {
  const folder = resolve(path)
  // A folder that is not ours does not get a lock file, so it is looked at before and after.
  inspect(folder)
  const lock = lockFolder(folder)
  try {
    const isNew = inspect(folder) === 'new'
    checkData(folder, isNew)
    lock.sign()
    if (isNew) checkRoom(folder)
    fillReaderFile(folder)
    return {
      file: join(folder, DATA_FILE),
      isNew,
      vouch: () => vouch(folder),
      release: () => lock.release(),
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

export const unreadable = (folder: string, problem: string, cause?: unknown): StorageError =>
  new StorageError('folder-unreadable', `cannot open the data folder ${folder}: ${problem}`, undefined, cause)

/** Tells a folder of ours from one that is to become ours; throws for any other. */
function inspect(folder: string): 'new' | 'ours' {
  const names = namesIn(folder)
  if (!names) return 'new'
  const isOurs = names.includes(FORMAT_FILE)
  if (isOurs) checkFormat(folder)
  else checkUnfinished(folder, names)
  checkAccess(folder, names)
  // Without the lock nobody can be at work on the data, so that it must be right.
  if (!names.includes(LOCK_FILE)) checkData(folder, !isOurs)
  return isOurs ? 'ours' : 'new'
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw unreadable(folder, codeOf(error) === 'ENOTDIR' ? 'it is not a folder' : messageOf(error), error)
  }
}

function checkFormat(folder: string): void {
  let format: string
  try {
    format = readFileSync(join(folder, FORMAT_FILE), 'utf8').trim()
  } catch (error) {
    throw unreadable(folder, messageOf(error), error)
  }
  if (format === FORMAT) return
  const found = format.startsWith('binnacle-storage ') ? `the format "${format}"` : 'a FORMAT file that is not ours'
  throw new StorageError(
    'folder-format',
    `the data folder ${folder} has ${found}, and this version of Binnacle reads "${FORMAT}" only; ` +
      'open it with the version that wrote it, or name another folder',
  )
}

function checkUnfinished(folder: string, names: readonly string[]): void {
  const foreign = names.find(name => !UNFINISHED.has(name))
  if (foreign === undefined) return
  throw new StorageError(
    'folder-format',
    `${folder} is not a data folder: it holds ${foreign} but no ${FORMAT_FILE} file; ` +
      'name an empty folder, or one that does not exist',
  )
}

/** Everything in the folder must be there to read and to write, and the folder to add to. */
function checkAccess(folder: string, names: readonly string[]): void {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    for (const name of names) {
      if (UNFINISHED.has(name) && name !== 'lost+found') accessSync(join(folder, name), constants.R_OK | constants.W_OK)
    }
  } catch (error) {
    throw unreadable(folder, messageOf(error), error)
  }
}

function checkData(folder: string, isNew: boolean): void {
  let problem: string | undefined
  try {
    problem = checkDataFile(join(folder, DATA_FILE))
  } catch (error) {
    throw unreadable(folder, messageOf(error), error)
  }
  if (isNew && (problem === 'is missing' || problem === 'is empty')) return
  if (problem) throw unreadable(folder, `${DATA_FILE} ${problem}; restore it from a backup`)
}

function lockFolder(folder: string): FolderLock {
  const file = join(folder, LOCK_FILE)
  let lock: FolderLock | undefined
  let holder: number | undefined
  try {
    makeFolder(folder)
    lock = takeLock(file)
    if (!lock) holder = lockHolder(file)
  } catch (error) {
    throw unreadable(folder, messageOf(error), error)
  }
  if (lock) return lock
  const who = holder === undefined ? 'another process' : holder === process.pid ? 'this process' : `process ${holder}`
  throw new StorageError(
    'folder-locked',
    `the data folder ${folder} is in use by ${who}; stop that one first, or name another folder`,
  )
}

function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  // A folder is on disk when the folder above it is, up to the first one that was there before.
  for (let made = folder; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made))
}

/** LMDB gets an empty file to begin with, for which there must be room: see room.ts. */
function checkRoom(folder: string): void {
  const trial = join(folder, TRIAL_FILE)
  try {
    writeFileSync(trial, Buffer.alloc(512 * 1024))
  } catch (error) {
    throw isNoSpace(error) ? noSpace(folder, error) : unreadable(folder, messageOf(error), error)
  } finally {
    rmSync(trial, { force: true })
  }
}

const READER_BYTES = 64 * 1024

/**
 * LMDB writes to its file for readers through a map of it. On a full disk that ends the process where the file has a
 * hole, so it gets none. Nobody has the folder open, and LMDB begins with its content anew.
 */
function fillReaderFile(folder: string): void {
  const file = join(folder, READER_FILE)
  try {
    if (statSync(file, { throwIfNoEntry: false })?.size !== READER_BYTES)
      writeFileSync(file, Buffer.alloc(READER_BYTES))
  } catch (error) {
    throw unreadable(folder, messageOf(error), error)
  }
}

function vouch(folder: string): void {
  const fresh = join(folder, NEW_FORMAT_FILE)
  writeFileSync(fresh, `${FORMAT}\n`, { flush: true })
  syncFolder(folder)
  renameSync(fresh, join(folder, FORMAT_FILE))
  syncFolder(folder)
}

function syncFolder(folder: string): void {
  if (platform() === 'win32') return // which has no such thing
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
