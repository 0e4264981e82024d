// Reading a page of a folder as of one revision: from one snapshot of the tables, however long it takes. Long stretches
// give way to other work now and then.
import { endOfFolder } from '../keys.js'
import type { Entry, Page, RangeOptions, Revision } from '../store.js'
import { entriesAt } from './history.js'
import { readFailure, readState, type Snapshot, type Tables } from './layout.js'
import type { FolderCounts } from './prefix-counts.js'

export interface PageReader {
  /** Reads at a revision that history holds. */
  read(folder: string, options: RangeOptions, asOf: Revision): Promise<Page>
  /** Resolves when no page is being read any more. */
  idle(): Promise<void>
}

export interface PageContext {
  readonly tables: Tables
  readonly counts: FolderCounts
  /** The latest acknowledged revision. */
  revision(): Revision
  /** Throws when the store was closed while others had their turn. */
  checkOpen(): void
}

/** After how many entries others get their turn. */
const TURN_ENTRIES = 2000
/** The same for keys that are only counted. */
const TURN_KEYS = 20_000

/** From a key to before another, at a revision, in a snapshot. */
interface Stretch {
  readonly start: string
  readonly end: string
  readonly asOf: Revision
  readonly snapshot: Snapshot
}

export function createPageReader({ tables, counts, revision, checkOpen }: PageContext): PageReader {
  let reading = 0
  const whenIdle: (() => void)[] = []

  async function read(folder: string, options: RangeOptions, asOf: Revision): Promise<Page> {
    const { limit = Number.POSITIVE_INFINITY, startAfter } = options
    // The size that is known now is that of the latest revision now, whatever is written while this page is read.
    const size = counts.recall(folder, startAfter, asOf, asOf === revision())
    const transaction = tables.root.useReadTransaction()
    reading++
    try {
      const start = startAfter === undefined ? folder : after(startAfter)
      const stretch = { start, end: endOfFolder(folder), asOf, snapshot: { transaction } }
      const entries: Entry[] = []
      if (await collect(stretch, limit, entries)) return { revision: asOf, entries, remaining: 0 }
      const last = entries.at(-1)!.key
      const total = size ?? (await countFrom(folder, options, { ...stretch, start: after(last) }, entries.length))
      const remaining = total - entries.length
      counts.remember(folder, last, asOf, remaining)
      return { revision: asOf, entries, remaining }
    } catch (error) {
      throw readFailure(error)
    } finally {
      transaction.done()
      reading--
      if (reading === 0) for (const resolve of whenIdle.splice(0)) resolve()
    }
  }

  /** Adds the entries of a stretch up to a limit; true when that was all of them. */
  async function collect(stretch: Stretch, limit: number, entries: Entry[]): Promise<boolean> {
    const { start, end, asOf, snapshot } = stretch
    if (!isCurrent(stretch)) {
      for (const entry of entriesAt(tables, start, end, asOf, snapshot)) {
        if (entries.length === limit) return false
        entries.push(entry)
        if (entries.length % TURN_ENTRIES === 0) await turn()
      }
      return true
    }
    for (const { key, value, version } of tables.current.getRange({ start, end, versions: true, ...snapshot })) {
      if (entries.length === limit) return false
      entries.push({ key, value, revision: version! })
      if (entries.length % TURN_ENTRIES === 0) await turn()
    }
    return true
  }

  /** The size of what the page is the beginning of: the folder, or its rest after a key. */
  function countFrom(folder: string, { startAfter }: RangeOptions, rest: Stretch, before: number): Promise<number> {
    const walk = async () => before + (await (isCurrent(rest) ? countKeys(rest) : countEntries(rest)))
    return startAfter === undefined ? counts.count(folder, rest.asOf, rest.asOf === revision(), walk) : walk()
  }

  /** Every key of the snapshot counts. LMDB goes from one to the next much faster than entries can be read. */
  async function countKeys({ start, end, snapshot }: Stretch): Promise<number> {
    let count = 0
    for (let from = start; ; await turn()) {
      const [next] = tables.current.getKeys({ start: from, end, offset: TURN_KEYS, limit: 1, ...snapshot })
      if (next === undefined) return count + tables.current.getKeysCount({ start: from, end, ...snapshot })
      count += TURN_KEYS
      from = next
    }
  }

  async function countEntries({ start, end, asOf, snapshot }: Stretch): Promise<number> {
    let count = 0
    for (const _ of entriesAt(tables, start, end, asOf, snapshot)) if (++count % TURN_ENTRIES === 0) await turn()
    return count
  }

  /** Whether the snapshot is of the very revision. It is older than none that was acknowledged, but may be ahead. */
  const isCurrent = ({ asOf, snapshot }: Stretch): boolean => readState(tables, snapshot).revision === asOf

  async function turn(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    checkOpen()
  }

  return {
    read,
    idle: () => (reading > 0 ? new Promise(resolve => whenIdle.push(resolve)) : Promise.resolve()),
  }
}

/** Nothing sorts between a key and the same key with a NUL behind it. */
const after = (key: string): string => `${key}\0`
