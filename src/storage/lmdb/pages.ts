// Reads a page of entries as of one revision, from one snapshot of the tables. Long reads yield to the event loop at
// intervals.
import { nextTurn } from '../../base/turns.js'
import { endOfPrefix } from '../keys.js'
import type { Entry, Page, RangeOptions, Revision, StoreEvent } from '../store.js'
import { entriesAt } from './history.js'
import { readFailure, readState, type Snapshot, type Tables } from './layout.js'
import type { PrefixCounts } from './prefix-counts.js'
import { type ChangedKey, changesWithin, type RecentWrites, withChanges } from './recent-writes.js'

export interface PageReader {
  /** Reads at a revision that is not compacted. */
  read(prefix: string, options: RangeOptions, asOf: Revision): Promise<Page>
  /** Resolves when no page is being read. */
  idle(): Promise<void>
}

export interface PageContext {
  readonly tables: Tables
  /** What the tables do not have yet. */
  readonly recent: RecentWrites
  readonly counts: PrefixCounts
  /** The latest acknowledged revision. */
  revision(): Revision
  /** Throws if the store was closed while the read yielded. */
  checkOpen(): void
}

/** How many entries are read before yielding to the event loop. */
const TURN_ENTRIES = 2000
/** The same for keys that are only counted. */
const TURN_KEYS = 20_000

/** The keys from `start` to before `end`, at a revision, in a snapshot. */
interface KeyRange {
  readonly start: string
  readonly end: string
  readonly asOf: Revision
  readonly snapshot: Snapshot
  /** What was written up to the revision after the snapshot. */
  readonly recent: readonly StoreEvent[]
}

type PageLimits = Required<Pick<RangeOptions, 'limit' | 'maxBytes'>> & {
  readonly limit: number
  readonly maxBytes: number
}

export function createPageReader({ tables, recent, counts, revision, checkOpen }: PageContext): PageReader {
  let reading = 0
  const whenIdle: (() => void)[] = []

  async function read(prefix: string, options: RangeOptions, asOf: Revision): Promise<Page> {
    const { limit = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, startAfter } = options
    // Looked up before the read: the count belongs to the latest revision at this moment.
    const size = counts.recall(prefix, startAfter, asOf, asOf === revision())
    const transaction = tables.root.useReadTransaction()
    reading++
    try {
      const start = startAfter === undefined ? prefix : after(startAfter)
      const range = { start, end: endOfPrefix(prefix), asOf, snapshot: { transaction }, recent: recent.events }
      const entries: Entry[] = []
      if (await collect(range, { limit, maxBytes }, entries)) return { revision: asOf, entries, remaining: 0 }
      if (options.isUncounted) return { revision: asOf, entries, remaining: 1 }
      const last = entries.at(-1)!.key
      const total = size ?? (await countFrom(prefix, options, { ...range, start: after(last) }, entries.length))
      const remaining = total - entries.length
      counts.remember(prefix, last, asOf, remaining)
      return { revision: asOf, entries, remaining }
    } catch (error) {
      throw readFailure(error)
    } finally {
      transaction.done()
      reading--
      if (reading === 0) for (const resolve of whenIdle.splice(0)) resolve()
    }
  }

  /** Adds the entries of a range up to a limit; returns true if the range is exhausted. */
  async function collect(range: KeyRange, { limit, maxBytes }: PageLimits, entries: Entry[]): Promise<boolean> {
    let bytes = 0
    for (const entry of entriesOf(range)) {
      if (entries.length === limit || bytes >= maxBytes) return false
      entries.push(entry)
      bytes += entry.value.length
      if (entries.length % TURN_ENTRIES === 0) await turn()
    }
    return true
  }

  function entriesOf(range: KeyRange): Iterable<Entry> {
    const { start, end, asOf, snapshot } = range
    if (isAhead(range)) return entriesAt(tables, start, end, asOf, snapshot)
    const changes = changesOf(range)
    return changes.length === 0 ? currentEntries(range) : withChanges(currentEntries(range), changes)
  }

  function* currentEntries({ start, end, snapshot }: KeyRange): Generator<Entry, void> {
    for (const { key, value, version } of tables.current.getRange({ start, end, versions: true, ...snapshot })) {
      yield { key, value, revision: version! }
    }
  }

  /** What was written after the snapshot. */
  const changesOf = ({ start, end, asOf, snapshot, recent: events }: KeyRange): readonly ChangedKey[] =>
    events.length === 0 ? [] : changesWithin(events, start, end, readState(tables, snapshot).revision, asOf)

  /** The total for the page: all entries of the prefix, or those after `startAfter`. */
  function countFrom(
    prefix: string,
    { startAfter }: RangeOptions,
    remainder: KeyRange,
    before: number,
  ): Promise<number> {
    const walk = async () => before + (await (isAhead(remainder) ? countEntries(remainder) : countKeys(remainder)))
    return startAfter === undefined ? counts.count(prefix, remainder.asOf, remainder.asOf === revision(), walk) : walk()
  }

  /** Counts every key of the snapshot, and what was written after it. LMDB skips keys much faster than it reads entries. */
  async function countKeys(range: KeyRange): Promise<number> {
    const { start, end, snapshot } = range
    let count = 0
    for (const { entry, existed } of changesOf(range)) count += Number(entry !== undefined) - Number(existed)
    for (let from = start; ; await turn()) {
      const [next] = tables.current.getKeys({ start: from, end, offset: TURN_KEYS, limit: 1, ...snapshot })
      if (next === undefined) return count + tables.current.getKeysCount({ start: from, end, ...snapshot })
      count += TURN_KEYS
      from = next
    }
  }

  async function countEntries({ start, end, asOf, snapshot }: KeyRange): Promise<number> {
    let count = 0
    for (const _ of entriesAt(tables, start, end, asOf, snapshot)) if (++count % TURN_ENTRIES === 0) await turn()
    return count
  }

  /** Whether the snapshot has later writes, too. */
  const isAhead = ({ asOf, snapshot }: KeyRange): boolean => readState(tables, snapshot).revision > asOf

  async function turn(): Promise<void> {
    await nextTurn()
    checkOpen()
  }

  return {
    read,
    idle: () => (reading > 0 ? new Promise(resolve => whenIdle.push(resolve)) : Promise.resolve()),
  }
}

/** The smallest string after a key is the key with a NUL appended. */
const after = (key: string): string => `${key}\0`
