// The lock on a data directory. The kernel holds it for the open file and releases it when the process ends in any way.
// The process id in the file is information for people.
import { spawnSync } from 'node:child_process'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { platform } from 'node:os'

export interface DirectoryLock {
  /** Writes the process id into the file. */
  sign(): void
  release(): void
}

/** Takes the lock and creates its file if needed; undefined if another holder has it. */
export function takeLock(file: string): DirectoryLock | undefined {
  const fd = openLocked(file)
  if (fd === undefined) return undefined
  let signed = false
  return {
    sign() {
      signed = true
      try {
        ftruncateSync(fd)
        writeSync(fd, `${process.pid}\n`, 0)
      } catch {
        // On a full disk there may be no space even for this, which is only information for people.
      }
    },
    release() {
      try {
        if (signed) ftruncateSync(fd)
      } catch {
        // The disk fails. The lock does not depend on the content.
      }
      closeSync(fd)
      heldHere.delete(file)
    },
  }
}

/** The process id in the lock file, if there is one. */
export function lockHolder(file: string): number | undefined {
  const pid = Number(readFileSync(file, 'utf8'))
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
}

/** Opens the file and locks it. */
function openLocked(file: string): number | undefined {
  if (platform() === 'darwin' || platform() === 'freebsd') return openExclusively(file)
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o644)
  try {
    if (lockOpenFile(fd, file)) return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
  closeSync(fd)
  return undefined
}

/** BSD systems lock when opening; Node.js has no constants for the flags. */
function openExclusively(file: string): number | undefined {
  const O_NONBLOCK = 0x4
  const O_EXLOCK = 0x20
  try {
    return openSync(file, constants.O_RDWR | constants.O_CREAT | O_EXLOCK | O_NONBLOCK, 0o644)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}

/**
 * Node.js cannot lock a file, but the `flock` command can lock a descriptor that it inherits. That lock belongs to the
 * open file, which this process keeps after `flock` has ended.
 */
function lockOpenFile(fd: number, file: string): boolean {
  const { status } = spawnSync('flock', ['-x', '-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
  if (status === 0) return true
  if (status === 1) return false
  // Process ids mean nothing to a process in another container that has the same directory.
  if (platform() !== 'win32')
    throw new Error('it cannot be locked: the flock command (of util-linux or BusyBox) is missing')
  return lockByProcessId(file)
}

const heldHere = new Set<string>()

/** On Windows, the lock is held while the process lives whose id is in the file. */
function lockByProcessId(file: string): boolean {
  const holder = lockHolder(file)
  if (heldHere.has(file) || (holder !== undefined && holder !== process.pid && isAlive(holder))) return false
  heldHere.add(file)
  return true
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
