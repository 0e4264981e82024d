// The journal: a file to which groups of writes are appended before they are in LMDB's file.
//
// A record has its length and checksum, the revision of its first write, and the writes of one group. Records follow each
// other from the start of the file. What comes after the last one is left from before: it has other revisions, or is no record.
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { platform } from 'node:os'
import { dirname } from 'node:path'
import type { Revision, StoreEvent } from '../../store.js'

export interface JournalFile {
  /** Appends a group. It is on disk when this returns; if it throws, the file is as it was before. */
  appendAtOnce(events: readonly StoreEvent[]): void
  /** The same, synced on a thread. */
  append(events: readonly StoreEvent[]): Promise<void>
  /** All writes are in LMDB's file: the next record replaces the first one. */
  rewind(): void
  close(): void
}

/** A write as the journal has it. */
export interface JournaledWrite {
  readonly revision: Revision
  readonly key: string
  /** Undefined for a delete. */
  readonly value: Buffer | undefined
  /** The revision of the entry that it replaced; 0 if there was none. */
  readonly replaced: Revision
}

/** The file is created with the first record. */
export function createJournalFile(file: string): JournalFile {
  let fd: number | undefined
  let end = 0

  function write(events: readonly StoreEvent[]): { readonly opened: number; readonly bytes: number } {
    const record = encodeRecord(events)
    fd ??= openJournal(file)
    if (writeSync(fd, record, 0, record.length, end) < record.length)
      throw new Error('the journal was not written whole')
    return { opened: fd, bytes: record.length }
  }

  /** The record that was not synced must not be found later. */
  function undo(): void {
    if (fd !== undefined) ftruncateSync(fd, end)
  }

  return {
    appendAtOnce(events) {
      try {
        const { opened, bytes } = write(events)
        fdatasyncSync(opened)
        end += bytes
      } catch (error) {
        undo()
        throw error
      }
    },
    async append(events) {
      try {
        const { opened, bytes } = write(events)
        await new Promise<void>((resolve, reject) => fdatasync(opened, error => (error ? reject(error) : resolve())))
        end += bytes
      } catch (error) {
        undo()
        throw error
      }
    },
    rewind() {
      end = 0
    },
    close() {
      if (fd === undefined) return
      // What is left belongs to this state of LMDB's file, and must not be added to a backup that is put in its place.
      if (end === 0) ftruncateSync(fd, 0)
      closeSync(fd)
    },
  }
}

/** The writes of a journal, oldest first; none if there is no journal. */
export function readJournal(file: string): readonly JournaledWrite[] {
  const bytes = readIfExists(file)
  const writes: JournaledWrite[] = []
  for (let at = 0; at + HEADER <= bytes.length; ) {
    const length = bytes.readUInt32LE(at)
    if (length < HEADER || length % WORD !== 0 || at + length > bytes.length) break
    const record = bytes.subarray(at, at + length)
    if (record.readUInt32LE(4) !== checksumOf(record)) break
    const revision = Number(record.readBigUInt64LE(8))
    if (writes.length > 0 && revision !== writes.at(-1)!.revision + 1) break
    writes.push(...decodeWrites(record, revision))
    at += length
  }
  return writes
}

/** The objects include Secrets, so only the owner may read the file. */
function openJournal(file: string): number {
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
  // A new file is durable when its directory is synced.
  if (platform() !== 'win32') {
    const directory = openSync(dirname(file), 'r')
    try {
      fsyncSync(directory)
    } finally {
      closeSync(directory)
    }
  }
  return fd
}

function readIfExists(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

// — records: length, checksum and revision; then for each write 1 if it is a delete, the replaced revision, the lengths of its
// key and value, and these. Zeros fill up the last word.

const WORD = 4
const HEADER = 16
const WRITE_HEADER = 1 + 8 + 2 + 4
const DELETE = 1
const WRITE = 2

function encodeRecord(events: readonly StoreEvent[]): Buffer {
  let length = HEADER
  for (const { key, value } of events) length += WRITE_HEADER + Buffer.byteLength(key) + (value?.length ?? 0)
  const record = Buffer.allocUnsafe(Math.ceil(length / WORD) * WORD)
  record.fill(0, record.length - WORD)
  record.writeUInt32LE(record.length, 0)
  record.writeBigUInt64LE(BigInt(events[0]!.revision), 8)
  let at = HEADER
  for (const { key, value, previous } of events) {
    const keyBytes = record.write(key, at + WRITE_HEADER)
    record[at] = value ? WRITE : DELETE
    record.writeBigUInt64LE(BigInt(previous?.revision ?? 0), at + 1)
    record.writeUInt16LE(keyBytes, at + 9)
    record.writeUInt32LE(value?.length ?? 0, at + 11)
    at += WRITE_HEADER + keyBytes
    if (value) record.set(value, at)
    at += value?.length ?? 0
  }
  record.writeUInt32LE(checksumOf(record), 4)
  return record
}

function decodeWrites(record: Buffer, first: Revision): JournaledWrite[] {
  const writes: JournaledWrite[] = []
  for (let at = HEADER; at + WRITE_HEADER <= record.length && record[at] !== 0; ) {
    const replaced = Number(record.readBigUInt64LE(at + 1))
    const keyEnd = at + WRITE_HEADER + record.readUInt16LE(at + 9)
    const end = keyEnd + record.readUInt32LE(at + 11)
    writes.push({
      revision: first + writes.length,
      key: record.toString('utf8', at + WRITE_HEADER, keyEnd),
      value: record[at] === DELETE ? undefined : Buffer.from(record.subarray(keyEnd, end)),
      replaced,
    })
    at = end
  }
  return writes
}

/** Of all words but the checksum itself: finds records that were written in part. */
function checksumOf(record: Buffer): number {
  let sum = record.readUInt32LE(0)
  for (let at = 8; at < record.length; at += WORD) {
    const mixed = Math.imul(record.readInt32LE(at), 0xcc9e2d51)
    sum = Math.imul((sum ^ mixed ^ (mixed >>> 15)) | 0, 0x85ebca6b)
    sum ^= sum >>> 13
  }
  return sum >>> 0
}
