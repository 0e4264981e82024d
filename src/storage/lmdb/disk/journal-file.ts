// The journal: a file to which groups of writes are appended before they are in LMDB's file.
//
// A record has the writes of one group, and says after which commit of LMDB's file they come: the file's id and its epoch, which
// grows with each commit. Each commit takes up all that is in the journal, so only the records of the present epoch count, those
// of earlier ones are left over, and the next record replaces the first one.
import { constants } from 'node:fs'
import { platform } from 'node:os'
import { dirname } from 'node:path'
import type { StoreEvent } from '../../store.js'
import { type Disk, systemDisk } from './disk.js'
import { encodeRecord, type JournalRecord, type Place, recordsIn } from './journal-record.js'

export interface JournalFile {
  /** Appends a group. It is on disk when this returns; if it throws, the group must be cut off, or be in LMDB's file. */
  appendAtOnce(events: readonly StoreEvent[], place: Place): void
  /** The same, synced on a thread. */
  append(events: readonly StoreEvent[], place: Place): Promise<void>
  /** Removes the group that could not be appended; false if it may still be found after a restart. */
  cutOff(): Promise<boolean>
  /** LMDB's file has a new epoch: the next record replaces the first one. */
  rewind(): void
  /** `isEmpty` means that LMDB's file has all writes. */
  close(isEmpty: boolean): void
}

/** The file is created with the first record. `end` is where the records end that it has. */
export function createJournalFile(file: string, end = 0, disk: Disk = systemDisk): JournalFile {
  let fd: number | undefined
  /** Something of a group that was not appended may be after the end. */
  let isUncut = false

  function write(events: readonly StoreEvent[], place: Place): { readonly opened: number; readonly bytes: number } {
    const record = encodeRecord(events, place)
    const opened = (fd ??= openJournal(disk, file))
    isUncut = true
    if (disk.write(opened, record, end) < record.length) throw new Error('the journal was not written whole')
    return { opened, bytes: record.length }
  }

  function appended(bytes: number): void {
    end += bytes
    isUncut = false
  }

  return {
    appendAtOnce(events, place) {
      const { opened, bytes } = write(events, place)
      disk.syncAtOnce(opened)
      appended(bytes)
    },
    async append(events, place) {
      const { opened, bytes } = write(events, place)
      await disk.sync(opened)
      appended(bytes)
    },
    async cutOff() {
      if (!isUncut || fd === undefined) return true
      try {
        disk.truncate(fd, end)
        // Otherwise the record would be back when the machine stops.
        await disk.sync(fd)
        isUncut = false
        return true
      } catch {
        return false
      }
    },
    rewind() {
      end = 0
      isUncut = false
    },
    close(isEmpty) {
      try {
        if (isEmpty) {
          fd ??= disk.open(file, constants.O_RDWR)
          disk.truncate(fd, 0)
        }
      } catch {
        // There is none, or it stays as it is: what it has is of an earlier epoch.
      } finally {
        if (fd !== undefined) disk.close(fd)
      }
    },
  }
}

/** The records of a journal; none if there is no journal. With `sync`, they are on disk: the process may have ended before. */
export function readJournal(file: string, sync: boolean, disk: Disk = systemDisk): readonly JournalRecord[] {
  let fd: number
  try {
    fd = disk.open(file, sync ? constants.O_RDWR : constants.O_RDONLY)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  try {
    const records = recordsIn(disk.read(fd))
    if (sync && records.length > 0) disk.syncAtOnce(fd)
    return records
  } finally {
    disk.close(fd)
  }
}

/** The objects include Secrets, so only the owner may read the file. */
function openJournal(disk: Disk, file: string): number {
  const fd = disk.open(file, constants.O_RDWR | constants.O_CREAT)
  try {
    // A new file is durable when its directory is synced.
    if (platform() !== 'win32') disk.syncFolder(dirname(file))
    return fd
  } catch (error) {
    disk.close(fd)
    throw error
  }
}
