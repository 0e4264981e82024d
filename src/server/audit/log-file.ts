// The file of the audit log. It is renamed with the time when it would grow over its limit, and old ones are removed, as
// kube-apiserver's log writer does. Lines are written at once, so that a server that is killed has lost none.
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { createFolder } from '../../base/files/create-folder.js'

export interface LogFileOptions {
  /** `-` is the standard output. */
  readonly path: string
  /** 0: no limit. */
  readonly maxBytes: number
  /** How many renamed files are kept; 0: all. */
  readonly maxBackups: number
  /** How long they are kept; 0: for ever. */
  readonly maxAgeMs: number
}

export interface LogFile {
  /** Throws if the line cannot be written whole. Nothing of it is in the file then, and the next one may be written. */
  write(line: string): void
  close(): void
}

export function openLogFile({ path, maxBytes, maxBackups, maxAgeMs }: LogFileOptions, now: () => number): LogFile {
  if (path === '-') return logOn(process.stdout)
  const folder = dirname(path)
  const ending = extname(path)
  const prefix = `${basename(path, ending)}-`
  createFolder(folder)
  let file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size

  function rotate(): void {
    const backup = join(
      folder,
      `${prefix}${new Date(now()).toISOString().replaceAll(':', '-').replace('Z', '')}${ending}`,
    )
    // Something else may have moved it.
    const isThere = existsSync(path)
    if (isThere) renameSync(path, backup)
    let next: number
    try {
      next = openSync(path, 'a', 0o600)
    } catch (error) {
      if (isThere) renameSync(backup, path)
      throw error
    }
    // Closed only now: until the new file is open, its number must not be that of another file.
    closeSync(file)
    file = next
    size = 0
    removeOld()
  }

  /** What cannot be removed is left for the next time. */
  function removeOld(): void {
    try {
      removeOldBackups()
    } catch {
      // The file is written nevertheless.
    }
  }

  function removeOldBackups(): void {
    const backups = readdirSync(folder)
      .filter(name => name.startsWith(prefix) && name.endsWith(ending))
      .toSorted()
      .toReversed()
    for (const [i, name] of backups.entries()) {
      const isTooMany = maxBackups > 0 && i >= maxBackups
      const isTooOld = maxAgeMs > 0 && statSync(join(folder, name)).mtimeMs < now() - maxAgeMs
      if (isTooMany || isTooOld) rmSync(join(folder, name), { force: true })
    }
  }

  return {
    write(line) {
      const bytes = Buffer.from(line)
      if (maxBytes > 0 && size > 0 && size + bytes.length > maxBytes) rotate()
      append(file, bytes)
      size += bytes.length
    },
    close: () => closeSync(file),
  }
}

/** So much is kept for a reader of the standard output that is late. */
const MAX_UNREAD_BYTES = 16 * 2 ** 20

/** The standard output keeps in memory what its reader has not taken, and fails once the reader is gone. */
export function logOn(output: Writable): LogFile {
  let failure: Error | undefined
  output.on('error', error => (failure = error))
  return {
    write(line) {
      if (failure) throw failure
      if (output.writableLength > MAX_UNREAD_BYTES) throw new Error('the standard output is not read')
      output.write(line)
    },
    close: () => {},
  }
}

/** A full disk may take a part of a line. It is taken back, so that the next line can be read. */
function append(file: number, bytes: Buffer): void {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(file, bytes, written)
  } catch (error) {
    const { size } = fstatSync(file)
    if (written > 0) ftruncateSync(file, size - written)
    throw error
  }
}
