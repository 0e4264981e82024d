// How the store lies in LMDB: four tables of one file.
//
//   current     key            → value, with the revision of its write as LMDB's version
//   log         revision       → what that write replaced: key, previous revision, previous value; was it a delete
//   milestones  key, revision  → nothing; see below
//   meta        'state'        → the latest revision, and the one at which history begins
//
// A value stands in one place: in `current` until it is replaced, and from then on in the log entry of the write that
// replaced it. From a write the log leads to the write before it on the same key, and so on back to the key's creation.
// A milestone is a write where one may get on to that way: every delete, for the key has no current entry to start
// from, and every eighth update or so, lest the way be long. To note every update would cost far more, since notes in
// the order of keys are all over the file while the log only grows at its end.
import { type Database, open, type RootDatabase } from 'lmdb'
import { StorageError } from '../storage-error.js'
import type { Entry, Revision } from '../store.js'

export interface Tables {
  readonly root: RootDatabase
  readonly current: Database<Buffer, string>
  readonly log: Database<LogRecord, Revision>
  readonly milestones: Database<undefined, MilestoneKey>
  readonly meta: Database<StoreState, string>
}

/** What a write did, without the value that it put. */
export interface LogRecord {
  readonly key: string
  readonly deleted: boolean
  readonly previous: Entry | undefined
}

export type MilestoneKey = [key: string, revision: Revision]

/** Whether the write at a revision is noted as a milestone of its key. */
export function isMilestone(revision: Revision, { deleted, previous }: LogRecord): boolean {
  return deleted || (previous !== undefined && scatter(revision) % 8 === 0)
}

/** Mixes the bits of a revision, so that no regular pattern of writes passes a key by. */
function scatter(revision: Revision): number {
  let bits = (revision ^ Math.floor(revision / 2 ** 32)) >>> 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

export interface StoreState {
  readonly revision: Revision
  /** Reads and watches reach back to here. */
  readonly compacted: Revision
}

export const STATE = 'state'

/** Opens the tables of a data file, and makes those that are missing. */
export function openTables(file: string): Tables {
  const root = open({
    path: file,
    noSubdir: true,
    maxDbs: 8,
    // Each range that is under way may hold a snapshot of its own. (The size of LMDB's file for readers decides.)
    maxReaders: 1000,
    encoding: 'binary',
    // A commit is answered when it is on disk, not before.
    overlappingSync: false,
    // The writer makes the groups.
    eventTurnBatching: false,
  })
  try {
    return openEach(root)
  } catch (error) {
    void root.close()
    throw error
  }
}

function openEach(root: RootDatabase): Tables {
  return {
    root,
    current: root.openDB(table('current', { useVersions: true, keyEncoder: utf8Key, encoder: bytes })),
    log: root.openDB(table('log', { keyEncoder: revisionKey, encoder: logRecord })),
    milestones: root.openDB(table('milestones', { keyEncoder: milestoneKey, encoder: nothing })),
    meta: root.openDB(table('meta', { keyEncoder: utf8Key, encoder: storeState })),
  }
}

export function readState(tables: Tables, options?: Snapshot): StoreState {
  const state = tables.meta.get(STATE, options)
  if (!state) throw corrupt('the record of the latest revision is missing')
  return state
}

/** A read transaction in the form that lmdb takes it. */
export type Snapshot = NonNullable<Parameters<Database['get']>[1]>

export const corrupt = (what: string): StorageError =>
  new StorageError('corrupt', `the data file contradicts itself: ${what}`)

/** What LMDB says when it cannot make sense of its pages, as an error of ours. */
export const readFailure = (error: unknown): StorageError =>
  error instanceof StorageError
    ? error
    : new StorageError('corrupt', `the data file cannot be read: ${String(error)}`, undefined, error)

interface KeyEncoder<K> {
  writeKey(key: K, target: Buffer, start: number): number
  readKey(source: Buffer, start: number, end: number): K
}

interface ValueEncoder<V> {
  encode(value: V): Uint8Array
  /** The bytes are lmdb's and hold the value only until its next read; beyond `length` they hold anything. */
  decode(bytes: Buffer): V
}

interface TableOptions<K, V> {
  readonly keyEncoder: KeyEncoder<K>
  readonly encoder: ValueEncoder<V>
  readonly useVersions?: boolean
}

const table = <K, V>(name: string, options: TableOptions<K, V>) => ({ name, encoding: 'binary' as const, ...options })

// lmdb's own encoding of strings escapes control characters in short ones only; plain UTF-8 sorts as keys must.
const utf8Key: KeyEncoder<string> = {
  writeKey: writeText,
  readKey: (source, start, end) => source.toString('utf8', start, end),
}

const revisionKey: KeyEncoder<Revision> = {
  writeKey(revision, target, start) {
    writeRevision(revision, target, start)
    return start + REVISION_BYTES
  },
  readKey: (source, start) => readRevision(source, start),
}

/** The NUL, which no key holds, makes all revisions of a key sort before those of a longer key. */
const milestoneKey: KeyEncoder<MilestoneKey> = {
  writeKey([key, revision], target, start) {
    const end = writeText(key, target, start)
    target[end] = 0
    writeRevision(revision, target, end + 1)
    return end + 1 + REVISION_BYTES
  },
  readKey: (source, start, end) => [
    source.toString('utf8', start, end - REVISION_BYTES - 1),
    readRevision(source, end - REVISION_BYTES),
  ],
}

const bytes: ValueEncoder<Buffer> = {
  encode: value => value,
  decode: source => copyBytes(source, 0, source.length),
}

const nothing: ValueEncoder<undefined> = {
  encode: () => NO_BYTES,
  decode: () => undefined,
}

const NO_BYTES = Buffer.alloc(0)

const storeState: ValueEncoder<StoreState> = {
  encode({ revision, compacted }) {
    const target = Buffer.allocUnsafe(2 * REVISION_BYTES)
    writeRevision(revision, target, 0)
    writeRevision(compacted, target, REVISION_BYTES)
    return target
  },
  decode: source => ({ revision: readRevision(source, 0), compacted: readRevision(source, REVISION_BYTES) }),
}

const REVISION_BYTES = 8
const DELETED = 1
const LOG_HEADER = 1 + REVISION_BYTES + 2

/** One byte of flags, the previous revision (0: none), the key's length, the key, the previous value. */
const logRecord: ValueEncoder<LogRecord> = {
  encode({ key, deleted, previous }) {
    const keyBytes = Buffer.byteLength(key)
    const target = Buffer.allocUnsafe(LOG_HEADER + keyBytes + (previous?.value.length ?? 0))
    target[0] = deleted ? DELETED : 0
    writeRevision(previous?.revision ?? 0, target, 1)
    target.writeUInt16BE(keyBytes, 1 + REVISION_BYTES)
    writeText(key, target, LOG_HEADER)
    if (previous) target.set(previous.value, LOG_HEADER + keyBytes)
    return target
  },
  decode(source) {
    const valueStart = LOG_HEADER + source.readUInt16BE(1 + REVISION_BYTES)
    const key = source.toString('utf8', LOG_HEADER, valueStart)
    const revision = readRevision(source, 1)
    const previous = revision === 0 ? undefined : { key, value: copyBytes(source, valueStart, source.length), revision }
    return { key, deleted: (source[0]! & DELETED) !== 0, previous }
  },
}

/** lmdb sets the `length` of its read buffer for each value, so that only its own view of the memory can be trusted. */
function copyBytes(source: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start)
  copy.set(new Uint8Array(source.buffer, source.byteOffset + start, end - start))
  return copy
}

function writeText(text: string, target: Buffer, start: number): number {
  // Short ASCII, the usual key, is written faster from here than by a call out of JavaScript.
  const { length } = text
  if (length > SHORT) return start + target.write(text, start)
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) return start + target.write(text, start)
    target[start + i] = unit
  }
  return start + length
}

const SHORT = 64

function writeRevision(revision: Revision, target: Buffer, start: number): void {
  writeWord(Math.floor(revision / 2 ** 32), target, start)
  writeWord(revision >>> 0, target, start + 4)
}

function writeWord(word: number, target: Buffer, start: number): void {
  target[start] = word >>> 24
  target[start + 1] = word >>> 16
  target[start + 2] = word >>> 8
  target[start + 3] = word
}

const readRevision = (source: Buffer, start: number): Revision =>
  readWord(source, start) * 2 ** 32 + readWord(source, start + 4)

const readWord = (source: Buffer, start: number): number =>
  source[start]! * 2 ** 24 + ((source[start + 1]! << 16) | (source[start + 2]! << 8) | source[start + 3]!)
