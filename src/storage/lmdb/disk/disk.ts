// The calls of the system by which the journal is written. Tests replace them by a disk that fails.
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'

export interface Disk {
  /** A file that is created is its owner's alone. */
  open(file: string, flags: number): number
  read(fd: number): Buffer
  /** How many bytes were written. */
  write(fd: number, bytes: Uint8Array, position: number): number
  truncate(fd: number, length: number): void
  syncAtOnce(fd: number): void
  /** On a thread. */
  sync(fd: number): Promise<void>
  syncFolder(folder: string): void
  close(fd: number): void
}

export const systemDisk: Disk = {
  open: (file, flags) => openSync(file, flags, 0o600),
  read: fd => readFileSync(fd),
  write: (fd, bytes, position) => writeSync(fd, bytes, 0, bytes.length, position),
  truncate: ftruncateSync,
  syncAtOnce: fdatasyncSync,
  sync: fd => new Promise((resolve, reject) => fdatasync(fd, error => (error ? reject(error) : resolve()))),
  syncFolder(folder) {
    const fd = openSync(folder, 'r')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  },
  close: closeSync,
}
