// The data directory: its files, its format and its lock. A directory that cannot be opened is left unchanged.
//
//   FORMAT           the format version; written last, so it marks the directory as complete. Format 1 has no journal
//   store.mdb        the tables, see layout.ts
//   store.mdb-lock   LMDB's reader table
//   journal          writes that are not in the tables yet, see journal-file.ts
//   lock             locked while the directory is open
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createFolder } from '../../../base/files/create-folder.js'
import { StorageError } from '../../storage-error.js'
import { checkDataFile } from './data-file.js'
import { type DirectoryLock, lockHolder, takeLock } from './directory-lock.js'
import { isNoSpace, noSpace } from './disk-space.js'

export interface DataDirectory {
  /** The path of LMDB's file. */
  readonly file: string
  /** The path of the journal. */
  readonly journal: string
  /** The directory was created or is not complete yet. */
  readonly isNew: boolean
  /** Marks a new directory as complete, once its tables are on disk. */
  markComplete(): void
  /** Earlier versions of the program, which do not read the journal, open the directory no more. */
  upgrade(): void
  release(): void
}

const FORMAT = 'binnacle-storage 2'
const EARLIER_FORMAT = 'binnacle-storage 1'
const FORMAT_FILE = 'FORMAT'
const NEW_FORMAT_FILE = 'FORMAT.new'
const DATA_FILE = 'store.mdb'
const READER_FILE = `${DATA_FILE}-lock`
export const JOURNAL_FILE = 'journal'
export const LOCK_FILE = 'lock'
const TRIAL_FILE = `${DATA_FILE}-trial`

/** Files of a directory whose creation was interrupted; a new file system has `lost+found`. */
const UNFINISHED = new Set([LOCK_FILE, DATA_FILE, READER_FILE, JOURNAL_FILE, TRIAL_FILE, NEW_FORMAT_FILE, 'lost+found'])

export interface DirectoryOptions {
  /** The data file of a directory that is not complete may be damaged: the caller writes another one. */
  readonly replacesUnfinished?: boolean
  /** A directory that is created need not outlive a crash of the machine. */
  readonly noSync?: boolean | undefined
}

export function openDataDirectory(
  path: string,
  { replacesUnfinished = false, noSync = false }: DirectoryOptions = {},
): DataDirectory {
  const directory = resolve(path)
  // Checked before and after locking: a directory with other content must not get a lock file.
  inspect(directory, replacesUnfinished)
  const lock = lockDirectory(directory, noSync)
  try {
    const isNew = inspect(directory, replacesUnfinished) === 'new'
    if (!isNew || !replacesUnfinished) checkData(directory, isNew)
    tightenRights(directory)
    lock.sign()
    if (isNew) checkDiskSpace(directory)
    fillReaderFile(directory)
    return {
      file: join(directory, DATA_FILE),
      journal: join(directory, JOURNAL_FILE),
      isNew,
      markComplete: () => markComplete(directory, noSync),
      upgrade: () => upgrade(directory),
      release: () => lock.release(),
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

export const unreadable = (directory: string, problem: string, cause?: unknown): StorageError =>
  new StorageError('directory-unreadable', `cannot open the data directory ${directory}: ${problem}`, undefined, cause)

/** Distinguishes a data directory from a new one; throws if it has other content. */
function inspect(directory: string, replacesUnfinished: boolean): 'new' | 'ours' {
  const names = namesIn(directory)
  if (!names) return 'new'
  const isOurs = names.includes(FORMAT_FILE)
  if (isOurs) checkFormat(directory)
  else checkUnfinished(directory, names)
  checkAccess(directory, names)
  // Without a lock file no process has the directory open, so the data file must be valid now.
  if (!names.includes(LOCK_FILE) && (isOurs || !replacesUnfinished)) checkData(directory, !isOurs)
  return isOurs ? 'ours' : 'new'
}

function namesIn(directory: string): string[] | undefined {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw unreadable(directory, codeOf(error) === 'ENOTDIR' ? 'it is not a directory' : messageOf(error), error)
  }
}

function checkFormat(directory: string): void {
  const format = readFormat(directory)
  if (format === FORMAT) return
  if (format === EARLIER_FORMAT) return checkNoJournal(directory)
  const found = format.startsWith('binnacle-storage ') ? `the format "${format}"` : 'a FORMAT file that is not ours'
  throw new StorageError(
    'directory-format',
    `the data directory ${directory} has ${found}, and this version of Binnacle reads "${FORMAT}" only; ` +
      'open it with the version that wrote it, or name another directory',
  )
}

function readFormat(directory: string): string {
  try {
    return readFileSync(join(directory, FORMAT_FILE), 'utf8').trim()
  } catch (error) {
    throw unreadable(directory, messageOf(error), error)
  }
}

/** Versions that were not released wrote a journal of another form, which is empty after they were stopped. */
function checkNoJournal(directory: string): void {
  if (!statSync(join(directory, JOURNAL_FILE), { throwIfNoEntry: false })?.size) return
  throw new StorageError(
    'directory-format',
    `the data directory ${directory} has a journal of an earlier version of Binnacle; start and stop it with that version first`,
  )
}

function checkUnfinished(directory: string, names: readonly string[]): void {
  const foreign = names.find(name => !UNFINISHED.has(name))
  if (foreign === undefined) return
  throw new StorageError(
    'directory-format',
    `${directory} is not a data directory: it holds ${foreign} but no ${FORMAT_FILE} file; ` +
      'name an empty directory, or one that does not exist',
  )
}

/** The directory and its files must be readable and writable. */
function checkAccess(directory: string, names: readonly string[]): void {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    for (const name of names) {
      if (UNFINISHED.has(name) && name !== 'lost+found')
        accessSync(join(directory, name), constants.R_OK | constants.W_OK)
    }
  } catch (error) {
    throw unreadable(directory, messageOf(error), error)
  }
}

function checkData(directory: string, isNew: boolean): void {
  let problem: string | undefined
  try {
    problem = checkDataFile(join(directory, DATA_FILE))
  } catch (error) {
    throw unreadable(directory, messageOf(error), error)
  }
  if (isNew && (problem === 'is missing' || problem === 'is empty')) return
  if (problem) throw unreadable(directory, `${DATA_FILE} ${problem}; restore it from a backup`)
}

function lockDirectory(directory: string, noSync: boolean): DirectoryLock {
  const file = join(directory, LOCK_FILE)
  let lock: DirectoryLock | undefined
  let holder: number | undefined
  try {
    createDirectory(directory, noSync)
    lock = takeLock(file)
    if (!lock) holder = lockHolder(file)
  } catch (error) {
    throw unreadable(directory, messageOf(error), error)
  }
  if (lock) return lock
  const who = holder === undefined ? 'another process' : holder === process.pid ? 'this process' : `process ${holder}`
  throw new StorageError(
    'directory-locked',
    `the data directory ${directory} is in use by ${who}; stop that one first, or name another directory`,
  )
}

/** The objects include Secrets, so only the owner may enter the directory. */
function tightenRights(directory: string): void {
  if (platform() === 'win32' || (statSync(directory).mode & 0o077) === 0) return
  try {
    chmodSync(directory, 0o700)
  } catch (error) {
    throw unreadable(directory, `other users may read it, and that cannot be changed: ${messageOf(error)}`, error)
  }
}

function createDirectory(directory: string, noSync: boolean): void {
  const first = createFolder(directory, 0o700)
  if (first === undefined || noSync) return
  // A new directory is durable when its parent is synced, up to the first one that existed before.
  for (let created = directory; created.length >= first.length; created = dirname(created))
    syncDirectory(dirname(created))
}

/** LMDB creates a file of this size, for which there must be space: see disk-space.ts. */
function checkDiskSpace(directory: string): void {
  const trial = join(directory, TRIAL_FILE)
  try {
    writeFileSync(trial, Buffer.alloc(512 * 1024))
  } catch (error) {
    throw isNoSpace(error) ? noSpace(directory, error) : unreadable(directory, messageOf(error), error)
  } finally {
    rmSync(trial, { force: true })
  }
}

const READER_BYTES = 64 * 1024

/**
 * LMDB writes to its reader table through a memory map. On a full disk that crashes the process where the file has a
 * hole, so the file is filled first. No process has the directory open, and LMDB initializes the content again.
 */
function fillReaderFile(directory: string): void {
  const file = join(directory, READER_FILE)
  try {
    if (statSync(file, { throwIfNoEntry: false })?.size !== READER_BYTES)
      writeFileSync(file, Buffer.alloc(READER_BYTES))
  } catch (error) {
    throw unreadable(directory, messageOf(error), error)
  }
}

function markComplete(directory: string, noSync: boolean): void {
  const newFile = join(directory, NEW_FORMAT_FILE)
  writeFileSync(newFile, `${FORMAT}\n`, { flush: !noSync })
  if (!noSync) syncDirectory(directory)
  renameSync(newFile, join(directory, FORMAT_FILE))
  if (!noSync) syncDirectory(directory)
}

/** The two formats differ in one byte, which is written in its place: also on a full disk. */
function upgrade(directory: string): void {
  if (readFormat(directory) === FORMAT) return
  const fd = openSync(join(directory, FORMAT_FILE), 'r+')
  try {
    writeSync(fd, `${FORMAT}\n`, 0)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function syncDirectory(directory: string): void {
  if (platform() === 'win32') return // Windows cannot sync a directory
  const fd = openSync(directory, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
