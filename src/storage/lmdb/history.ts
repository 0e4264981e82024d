// Reads of the tables as of a revision: one key, a range of keys, or the events after a revision.
import { getLastVersion } from 'lmdb'
import type { LogSegment } from '../common/watchers.js'
import { compareKeys } from '../keys.js'
import type { Entry, Revision, StoreEvent } from '../store.js'
import { corrupt, type LogRecord, type MilestoneKey, type Snapshot, type Tables } from './layout.js'

/** The entry of a key in LMDB now, whether acknowledged or not. */
export function currentEntry(tables: Tables, key: string): Entry | undefined {
  const value = tables.current.get(key)
  return value && { key, value, revision: getLastVersion() }
}

/** The entry of a key at a revision that is not compacted. */
export function entryAt(tables: Tables, key: string, asOf: Revision): Entry | undefined {
  const current = currentEntry(tables, key)
  if (current && current.revision <= asOf) return current
  const later = milestoneAfter(tables, key, asOf) ?? current?.revision
  return later === undefined ? undefined : entryBefore(tables, later, asOf)
}

/** The entries from `start` to before `end` at a revision. */
export function* entriesAt(
  tables: Tables,
  start: string,
  end: string,
  asOf: Revision,
  snapshot: Snapshot,
): Generator<Entry, void> {
  const milestones = milestonesAfter(tables, start, end, asOf, snapshot)
  let milestone = milestones.next()
  for (const { key, value, version } of tables.current.getRange({ start, end, versions: true, ...snapshot })) {
    // Keys that were written after `asOf` and have no current entry were deleted.
    for (; !milestone.done && compareKeys(milestone.value[0], key) < 0; milestone = milestones.next()) {
      const deleted = entryBefore(tables, milestone.value[1], asOf, snapshot)
      if (deleted) yield deleted
    }
    let later = version!
    if (!milestone.done && milestone.value[0] === key) {
      later = milestone.value[1]
      milestone = milestones.next()
    }
    const entry = later <= asOf ? { key, value, revision: later } : entryBefore(tables, later, asOf, snapshot)
    if (entry) yield entry
  }
  for (; !milestone.done; milestone = milestones.next()) {
    const deleted = entryBefore(tables, milestone.value[1], asOf, snapshot)
    if (deleted) yield deleted
  }
}

/** The most bytes of events that are read at once; only the last event may exceed it. */
const SEGMENT_BYTES = 16 * 1024 * 1024

/** The events after a revision up to another, oldest first: at most `limit`, fewer if they are large. */
export function eventsBetween(tables: Tables, after: Revision, upTo: Revision, limit: number): LogSegment<StoreEvent> {
  const records = recordsBetween(tables, after, upTo, limit)
  const replacedBy = nextOnSameKey(records)
  const events: StoreEvent[] = []
  let bytes = 0
  for (const [i, { key, deleted, previous }] of records.entries()) {
    const revision = after + 1 + i
    // A replaced value is in the log record of the write that replaced it.
    const value = deleted ? undefined : (replacedBy[i]?.previous ?? writtenAt(tables, key, revision)).value
    events.push({ revision, key, value, previous })
    bytes += (value?.length ?? 0) + (previous?.value.length ?? 0)
    if (bytes > SEGMENT_BYTES) break
  }
  return { events, isLast: after + events.length === upTo }
}

function recordsBetween(tables: Tables, after: Revision, upTo: Revision, limit: number): LogRecord[] {
  const records: LogRecord[] = []
  let bytes = 0
  for (const { key: revision, value: record } of tables.log.getRange({ start: after + 1, end: upTo + 1, limit })) {
    if (revision !== after + 1 + records.length) break
    records.push(record)
    bytes += record.previous?.value.length ?? 0
    if (bytes > SEGMENT_BYTES) return records
  }
  if (records.length < Math.min(limit, upTo - after)) throw corrupt('the log has no entry for some of its revisions')
  return records
}

/** For each record, the next record of the same key. */
function nextOnSameKey(records: readonly LogRecord[]): (LogRecord | undefined)[] {
  const next = new Map<string, LogRecord>()
  return records
    .toReversed()
    .map(record => {
      const later = next.get(record.key)
      next.set(record.key, record)
      return later
    })
    .toReversed()
}

/** The entry that the write at a revision stored. */
function writtenAt(tables: Tables, key: string, revision: Revision): Entry {
  const entry = entryAt(tables, key, revision)
  if (entry?.revision !== revision) throw corrupt(`the value that revision ${revision} wrote is missing`)
  return entry
}

/** Follows the log back from a write after `asOf` to the last write of the same key at or before it. */
function entryBefore(tables: Tables, later: Revision, asOf: Revision, snapshot?: Snapshot): Entry | undefined {
  let { previous } = logRecord(tables, later, snapshot)
  while (previous && previous.revision > asOf) previous = logRecord(tables, previous.revision, snapshot).previous
  return previous
}

function logRecord(tables: Tables, revision: Revision, snapshot?: Snapshot): LogRecord {
  const record = tables.log.get(revision, snapshot)
  if (!record) throw corrupt(`the log has no entry for revision ${revision}`)
  return record
}

function milestoneAfter(tables: Tables, key: string, asOf: Revision): Revision | undefined {
  const start: MilestoneKey = [key, asOf + 1]
  const end: MilestoneKey = [key, LAST]
  for (const [, revision] of tables.milestones.getKeys({ start, end, limit: 1 })) return revision
  return undefined
}

/** For each key from `start` to before `end`, its first milestone after a revision, if any. */
function* milestonesAfter(
  tables: Tables,
  startKey: string,
  endKey: string,
  asOf: Revision,
  snapshot: Snapshot,
): Generator<MilestoneKey, void> {
  // A start key that ends with NUL means "after that key", so all milestones of that key are skipped.
  const start: MilestoneKey = startKey.endsWith('\0') ? [startKey.slice(0, -1), LAST] : [startKey, 0]
  const end: MilestoneKey = [endKey, 0]
  let done: string | undefined
  for (const milestone of tables.milestones.getKeys({ start, end, ...snapshot })) {
    const [key, revision] = milestone
    if (revision <= asOf || key === done) continue
    done = key
    yield milestone
  }
}

const LAST: Revision = Number.MAX_SAFE_INTEGER
