// Checks that the tables of a data directory are consistent. Used by tests, for snapshots, and to diagnose a damaged disk.
import type { Revision } from '../store.js'
import { openDataDirectory } from './disk/data-directory.js'
import { isMilestone, openTables, readState, type Tables } from './layout.js'

/** Reads a complete directory that no process has open, and returns every inconsistency. */
export async function checkIntegrity(path: string): Promise<string[]> {
  const directory = openDataDirectory(path)
  try {
    const tables = openTables(directory.file)
    try {
      return [...problemsOf(tables)]
    } finally {
      await tables.root.close()
    }
  } finally {
    directory.release()
  }
}

/** Every inconsistency of the tables. */
export function* problemsOf(tables: Tables): Generator<string> {
  const last = new Map<string, LastWrite>()
  yield* checkLog(tables, last)
  yield* checkCurrent(tables, last)
  yield* checkMilestones(tables)
}

/** The last log record of a key. */
interface LastWrite {
  readonly revision: Revision
  readonly deleted: boolean
}

/** Every revision since the start of history has a record, and each write replaced the one before it. */
function* checkLog(tables: Tables, last: Map<string, LastWrite>): Generator<string> {
  const { revision: latest, compacted } = readState(tables)
  if (compacted > latest) yield `history begins at ${compacted}, after the latest revision ${latest}`
  let first: Revision | undefined
  let expected = compacted + 1
  for (const { key: revision, value } of tables.log.getRange({ start: 0 })) {
    const { key, deleted, previous } = value
    first ??= revision
    // Compaction may not have removed everything yet.
    if (revision === first && revision <= compacted) expected = revision
    if (revision !== expected) yield `the log continues with ${revision} instead of ${expected}`
    expected = revision + 1
    const before = last.get(key)
    const there = before && !before.deleted ? before.revision : undefined
    if (before ? previous?.revision !== there : previous && previous.revision >= first) {
      yield `${revision} replaced ${previous?.revision} at ${key}, where ${there} was`
    }
    if (deleted && !previous) yield `${revision} deleted ${key}, which was not there`
    last.set(key, { revision, deleted })
  }
  if (expected !== latest + 1) yield `the log ends at ${expected - 1}, the latest revision is ${latest}`
}

/** The last write to each key is its current entry. */
function* checkCurrent(tables: Tables, last: Map<string, LastWrite>): Generator<string> {
  const { compacted } = readState(tables)
  const unseen = new Map([...last].filter(([, { deleted }]) => !deleted))
  for (const { key, version } of tables.current.getRange({ start: '/', versions: true })) {
    const write = last.get(key)
    unseen.delete(key)
    if (!write && version! > compacted) yield `${key} was written at ${version}, of which the log knows nothing`
    else if (write?.deleted) yield `${key} is there, though ${write.revision} deleted it`
    else if (write && write.revision !== version)
      yield `${key} is of ${version}, though ${write.revision} wrote it last`
  }
  for (const [key, { revision }] of unseen) yield `${key} is missing, though ${revision} wrote it`
}

function* checkMilestones(tables: Tables): Generator<string> {
  const expected = new Set<string>()
  for (const { key: revision, value } of tables.log.getRange({ start: 0 })) {
    if (isMilestone(revision, value)) expected.add(`${value.key} ${revision}`)
  }
  for (const [key, revision] of tables.milestones.getKeys({ start: ['/', 0] })) {
    if (!expected.delete(`${key} ${revision}`)) yield `a milestone of ${key} at ${revision} stands for no write`
  }
  for (const milestone of expected) yield `the milestone of ${milestone} is missing`
}
