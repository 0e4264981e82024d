// Reading the tables as of a revision: a key, a stretch of keys, the events after a revision.
import { getLastVersion } from 'lmdb'
import type { Stretch } from '../common/watchers.js'
import { compareKeys } from '../keys.js'
import type { Entry, Revision, StoreEvent } from '../store.js'
import { corrupt, type LogRecord, type MilestoneKey, type Snapshot, type Tables } from './layout.js'

/** A key as LMDB has it now, be that acknowledged or not. */
export function currentEntry(tables: Tables, key: string): Entry | undefined {
  const value = tables.current.get(key)
  return value && { key, value, revision: getLastVersion() }
}

/** A key as it was at a revision that history still holds. */
export function entryAt(tables: Tables, key: string, asOf: Revision): Entry | undefined {
  const current = currentEntry(tables, key)
  if (current && current.revision <= asOf) return current
  const later = milestoneAfter(tables, key, asOf) ?? current?.revision
  return later === undefined ? undefined : entryBefore(tables, later, asOf)
}

/** The entries from `start` to before `end` as they were at a revision. */
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
    // Keys that were written to since and have no current entry were deleted.
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

/** How much the events that are read at once may hold, but for the last of them. */
const STRETCH_BYTES = 16 * 1024 * 1024

/** The events after a revision up to another, oldest first: so many, or fewer where they are large. */
export function eventsBetween(tables: Tables, after: Revision, upTo: Revision, limit: number): Stretch<StoreEvent> {
  const records = recordsBetween(tables, after, upTo, limit)
  const replacedBy = nextOnSameKey(records)
  const events: StoreEvent[] = []
  let bytes = 0
  for (const [i, { key, deleted, previous }] of records.entries()) {
    const revision = after + 1 + i
    // A value that was replaced comes with the write that replaced it.
    const value = deleted ? undefined : (replacedBy[i]?.previous ?? writtenAt(tables, key, revision)).value
    events.push({ revision, key, value, previous })
    bytes += (value?.length ?? 0) + (previous?.value.length ?? 0)
    if (bytes > STRETCH_BYTES) break
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
    if (bytes > STRETCH_BYTES) return records
  }
  if (records.length < Math.min(limit, upTo - after)) throw corrupt('the log has no entry for some of its revisions')
  return records
}

/** For each record the next one of the same key among them. */
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

/** What the write at a revision put at a key. */
function writtenAt(tables: Tables, key: string, revision: Revision): Entry {
  const entry = entryAt(tables, key, revision)
  if (entry?.revision !== revision) throw corrupt(`the value that revision ${revision} wrote is missing`)
  return entry
}

/** Goes back from a write after `asOf` to the last one up to then on the same key. */
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

/** For each key from `start` to before `end` its first milestone after a revision, where it has one. */
function* milestonesAfter(
  tables: Tables,
  startKey: string,
  endKey: string,
  asOf: Revision,
  snapshot: Snapshot,
): Generator<MilestoneKey, void> {
  // A start just after a key, which has the NUL behind it, is one after all milestones of that key.
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
