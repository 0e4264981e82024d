// The tables of the store: four LMDB databases in one file.
//
//   current     key            → value, with the revision of its write as LMDB's version
//   log         revision       → the write's key, the previous revision and value, and whether it was a delete
//   milestones  key, revision  → nothing; see below
//   meta        'state'        → the latest revision, the revision at which history starts, the file's id and epoch
//
// A value is stored once: in `current` until it is replaced, then in the log record of the write that replaced it. Each
// log record leads to the previous write of the same key, back to the key's creation. A milestone marks a write from
// which that chain can be entered: every delete, because the key then has no current entry, and about every eighth
// update, to keep the chain short. Marking every update would cost far more, because milestones in key order are spread
// over the file, while the log only grows at its end.
import { randomBytes } from 'node:crypto'
import { type Database, open, type RootDatabase } from 'lmdb'
import { StorageError } from '../storage-error.js'
import type { Entry, Revision, StoreEvent } from '../store.js'

export interface Tables {
  readonly root: RootDatabase
  readonly current: Database<Buffer, string>
  readonly log: Database<LogRecord, Revision>
  readonly milestones: Database<undefined, MilestoneKey>
  readonly meta: Database<StoreState, string>
}

/** A write, without the value that it stored. */
export interface LogRecord {
  readonly key: string
  readonly deleted: boolean
  readonly previous: Entry | undefined
}

export type MilestoneKey = [key: string, revision: Revision]

/** Whether the write at a revision is a milestone of its key. */
export function isMilestone(revision: Revision, { deleted, previous }: LogRecord): boolean {
  return deleted || (previous !== undefined && scatter(revision) % 8 === 0)
}

/** Mixes the bits of a revision, so that a regular pattern of writes cannot leave a key without milestones. */
function scatter(revision: Revision): number {
  let bits = (revision ^ Math.floor(revision / 2 ** 32)) >>> 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

export interface StoreState {
  readonly revision: Revision
  /** The start of history: reads and watches reach back to here. */
  readonly compacted: Revision
  /** A random number for each data file, also for each that is restored; 0 in files of earlier versions. */
  readonly id: number
  /** Grows with each commit, and tells which records of the journal come after the tables. */
  readonly epoch: number
}

export const isSameState = (a: StoreState, b: StoreState): boolean =>
  a.epoch === b.epoch && a.revision === b.revision && a.compacted === b.compacted

export const STATE = 'state'

export const randomId = (): number => randomBytes(4).readUInt32LE()

export interface OpenOptions {
  /** A commit is not on disk when it resolves. */
  readonly noSync?: boolean | undefined
  /** Another process may have the file open and write to it. */
  readonly readOnly?: boolean
}

/** Opens the tables of a data file, and creates missing ones unless it is only read. */
export function openTables(file: string, { noSync = false, readOnly = false }: OpenOptions = {}): Tables {
  const root = open({
    path: file,
    noSubdir: true,
    maxDbs: 8,
    // Each running range read may hold its own snapshot. (The size of LMDB's reader file limits the number.)
    maxReaders: 1000,
    encoding: 'binary',
    // A commit resolves only when it is on disk.
    overlappingSync: false,
    noSync,
    readOnly,
    // The writer groups the writes itself.
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

/** Adds writes and the state after them to a transaction. The promises of single operations are ignored: they have its outcome. */
export function putEvents(tables: Tables, events: readonly StoreEvent[], state: StoreState): void {
  // First, so that the new state is stored even if only a part of the rest is.
  void tables.meta.put(STATE, state)
  for (const { revision, key, value, previous } of events) {
    if (value) void tables.current.put(key, value, revision)
    else void tables.current.remove(key)
    const record = { key, deleted: !value, previous }
    void tables.log.put(revision, record)
    if (isMilestone(revision, record)) void tables.milestones.put([key, revision], undefined)
  }
}

/** A read transaction, as lmdb's read methods take it. */
export type Snapshot = NonNullable<Parameters<Database['get']>[1]>

export const corrupt = (what: string): StorageError =>
  new StorageError('corrupt', `the data file contradicts itself: ${what}`)

/** An LMDB error about unreadable pages, as a StorageError. */
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
  /** The bytes belong to lmdb and are valid only until its next read; beyond `length` they are undefined. */
  decode(bytes: Buffer): V
}

interface TableOptions<K, V> {
  readonly keyEncoder: KeyEncoder<K>
  readonly encoder: ValueEncoder<V>
  readonly useVersions?: boolean
}

const table = <K, V>(name: string, options: TableOptions<K, V>) => ({ name, encoding: 'binary' as const, ...options })

// lmdb's own string encoding escapes control characters in short strings only; plain UTF-8 sorts in key order.
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

/** The NUL, which no key contains, sorts all revisions of a key before those of a longer key. */
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
  encode({ revision, compacted, id, epoch }) {
    const target = Buffer.allocUnsafe(4 * REVISION_BYTES)
    for (const [i, number] of [revision, compacted, id, epoch].entries())
      writeRevision(number, target, i * REVISION_BYTES)
    return target
  },
  decode(source) {
    // Earlier versions wrote the first two numbers.
    const hasAll = source.length >= 4 * REVISION_BYTES
    const [revision, compacted, id, epoch] = [0, 1, 2, 3].map(i =>
      i < 2 || hasAll ? readRevision(source, i * REVISION_BYTES) : 0,
    ) as [number, number, number, number]
    return { revision, compacted, id, epoch }
  },
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

/** lmdb sets `length` of its shared read buffer for each value, so only the underlying memory can be copied. */
function copyBytes(source: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start)
  copy.set(new Uint8Array(source.buffer, source.byteOffset + start, end - start))
  return copy
}

function writeText(text: string, target: Buffer, start: number): number {
  // Writing short ASCII, the usual key, in JavaScript is faster than a native call.
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
