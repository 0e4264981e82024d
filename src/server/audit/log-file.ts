// The file of the audit log. It is renamed with the time when it would grow over its limit, and old ones are removed, as
// kube-apiserver's log writer does. Lines are written at once, so that a server that is killed has lost none.
import { closeSync, fstatSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
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
  write(line: string): void
  close(): void
}

export function openLogFile({ path, maxBytes, maxBackups, maxAgeMs }: LogFileOptions, now: () => number): LogFile {
  if (path === '-') return { write: line => void process.stdout.write(line), close: () => {} }
  const folder = dirname(path)
  const ending = extname(path)
  const prefix = `${basename(path, ending)}-`
  createFolder(folder)
  let file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size

  function rotate(): void {
    closeSync(file)
    renameSync(
      path,
      join(folder, `${prefix}${new Date(now()).toISOString().replaceAll(':', '-').replace('Z', '')}${ending}`),
    )
    file = openSync(path, 'a', 0o600)
    size = 0
    removeOld()
  }

  function removeOld(): void {
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
      size += writeSync(file, bytes)
    },
    close: () => closeSync(file),
  }
}
