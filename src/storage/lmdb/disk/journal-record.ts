// A record of the journal, as bytes: a mark, its length and checksum, the id and the epoch of LMDB's file, and the revision of the
// first write. Then for each write 1 if it is a delete, 2 if not, the replaced revision, the lengths of its key and value, and
// these. Zeros fill up the last word. Numbers are little-endian.
import type { Revision, StoreEvent } from '../../store.js'

/** The commit of LMDB's file that the writes of a record come after. */
export interface Place {
  readonly id: number
  readonly epoch: number
}

export interface JournalRecord extends Place {
  /** Its bytes in the journal. */
  readonly start: number
  readonly end: number
  /** Oldest first, with consecutive revisions; at least one. */
  readonly writes: readonly JournaledWrite[]
}

export interface JournaledWrite {
  readonly revision: Revision
  readonly key: string
  /** Undefined for a delete. */
  readonly value: Buffer | undefined
  /** The revision of the entry that it replaced; 0 if there was none. */
  readonly replaced: Revision
}

const WORD = 4
const MARK = 0x4a_52_4e_32
const HEADER = 36
const WRITE_HEADER = 1 + 8 + 2 + 4
const DELETE = 1
const WRITE = 2

export function encodeRecord(events: readonly StoreEvent[], { id, epoch }: Place): Buffer {
  let length = HEADER
  for (const { key, value } of events) length += WRITE_HEADER + Buffer.byteLength(key) + (value?.length ?? 0)
  const record = Buffer.allocUnsafe(Math.ceil(length / WORD) * WORD)
  record.fill(0, record.length - WORD)
  record.writeUInt32LE(MARK, 0)
  record.writeUInt32LE(record.length, 4)
  record.writeUInt32LE(id, 12)
  record.writeDoubleLE(epoch, 16)
  record.writeDoubleLE(events[0]!.revision, 24)
  record.writeUInt32LE(events.length, 32)
  let at = HEADER
  for (const { key, value, previous } of events) {
    const keyBytes = record.write(key, at + WRITE_HEADER)
    record[at] = value ? WRITE : DELETE
    record.writeDoubleLE(previous?.revision ?? 0, at + 1)
    record.writeUInt16LE(keyBytes, at + 9)
    record.writeUInt32LE(value?.length ?? 0, at + 11)
    at += WRITE_HEADER + keyBytes
    if (value) record.set(value, at)
    at += value?.length ?? 0
  }
  record.writeUInt32LE(checksumOf(record), 8)
  return record
}

/** All whole records among the bytes, also after damaged ones. */
export function recordsIn(bytes: Buffer): JournalRecord[] {
  const records: JournalRecord[] = []
  for (let at = 0; at + HEADER <= bytes.length; ) {
    const record = recordAt(bytes, at)
    if (record) records.push(record)
    at = record?.end ?? at + WORD
  }
  return records
}

function recordAt(bytes: Buffer, start: number): JournalRecord | undefined {
  if (bytes.readUInt32LE(start) !== MARK) return undefined
  const end = start + bytes.readUInt32LE(start + 4)
  if (end < start + HEADER || end > bytes.length || end % WORD !== 0) return undefined
  const record = bytes.subarray(start, end)
  if (record.readUInt32LE(8) !== checksumOf(record)) return undefined
  return { start, end, id: record.readUInt32LE(12), epoch: record.readDoubleLE(16), writes: decodeWrites(record) }
}

function decodeWrites(record: Buffer): JournaledWrite[] {
  const first = record.readDoubleLE(24)
  let at = HEADER
  return Array.from({ length: record.readUInt32LE(32) }, (_, i) => {
    const keyEnd = at + WRITE_HEADER + record.readUInt16LE(at + 9)
    const end = keyEnd + record.readUInt32LE(at + 11)
    const write = {
      revision: first + i,
      key: record.toString('utf8', at + WRITE_HEADER, keyEnd),
      value: record[at] === DELETE ? undefined : Buffer.from(record.subarray(keyEnd, end)),
      replaced: record.readDoubleLE(at + 1),
    }
    at = end
    return write
  })
}

/** Of all words but the checksum itself: finds records that were written in part. */
function checksumOf(record: Buffer): number {
  let sum = record.readUInt32LE(4)
  for (let at = 12; at < record.length; at += WORD) {
    const mixed = Math.imul(record.readInt32LE(at), 0xcc9e2d51)
    sum = Math.imul((sum ^ mixed ^ (mixed >>> 15)) | 0, 0x85ebca6b)
    sum ^= sum >>> 13
  }
  return sum >>> 0
}
