// The only writer. It takes all waiting writes, checks each against the stored entry and the earlier writes of the same
// group, commits the group, and only then notifies watchers and callers. A group is committed by the journal or, if that
// does not take it, by a transaction, which also has the writes that only the journal has so far.
//
// No state in memory is ahead of the disk. If a commit fails, its group is discarded and the next one starts from the
// stored state.
import { guardChanged, StorageError } from '../storage-error.js'
import { type Entry, eachGuard, type Guard, type Revision, type StoreEvent, type WriteResult } from '../store.js'
import { type CommitFailure, failureOf } from './commit-failure.js'
import type { CommitPace } from './commit-pace.js'
import type { DiskSpace, Need } from './disk/disk-space.js'
import { currentEntry } from './history.js'
import type { Journal } from './journal.js'
import { isSameState, putEvents, readFailure, readState, type StoreState, type Tables } from './layout.js'

export interface Writer {
  /** The latest acknowledged state; the tables may be one group ahead of it, and are behind it by what is in the journal. */
  readonly state: StoreState
  /** Whether the latest commit failed because of the disk, and not for lack of space. */
  readonly hasFailed: boolean
  /** Whether the group that is being committed changes the key. */
  isChanging(key: string): boolean
  write(key: string, value: Buffer | undefined, expected: Revision, guard?: Guard): Promise<WriteResult>
  /** Schedules a call of `nextMaintenance`. */
  wake(): void
  /** Puts what is in the journal into the tables. */
  emptyJournal(): void
  /** Resolves when no work is left. */
  idle(): Promise<void>
  /** Opens the data file no more. */
  stop(): void
}

/** Maintenance work that is committed together with a group of writes. */
export interface MaintenanceStep {
  /** The new start of history. */
  readonly compacted?: Revision
  /** How many entries it removes. */
  readonly entries?: number
  /** Adds its changes to the transaction of the group. */
  apply?(): void
  committed(): void
  /** `alone` means that the group had no writes. */
  failed(error: StorageError, alone: boolean): void
}

export interface WriterEvents {
  /** The work to commit with the next group, if any. `writes` is what the group has, so that the work keeps up with it. */
  nextMaintenance(writes: GroupSize): MaintenanceStep | undefined
  /** There is no space left: history is to be removed, which frees some. */
  needSpace(): void
  /** Opens the data file again after a failure that LMDB does not survive. */
  reopen(): Promise<void>
  /** The events of a group that is on disk, before its writes are answered. */
  committed(events: readonly StoreEvent[]): void
}

export interface GroupSize {
  readonly entries: number
  readonly bytes: number
}

interface Operation {
  readonly key: string
  readonly value: Buffer | undefined
  readonly expected: Revision
  readonly guard: Guard | undefined
  resolve(result: WriteResult): void
  reject(error: unknown): void
  /** How often it failed because there was no space, although it adds no data. */
  failures: number
}

/** A group being prepared: its changes, and the results to return once it is on disk. */
interface Group {
  readonly events: StoreEvent[]
  readonly changed: Map<string, Entry | undefined>
  readonly answers: { readonly operation: Operation; readonly result: WriteResult }[]
  /** Of new values, and of replaced ones, which move to the log. */
  bytes: number
}

/** The error for the writes of a group, and that for all writes until the data file was opened again. */
type FatalFailure = Required<CommitFailure>

/** Large enough to share the cost of a flush, small enough not to block the event loop. */
const MAX_OPERATIONS = 1024
const MAX_BYTES = 16 * 1024 * 1024
/** How often a write that adds no data is tried while history is removed from a full disk. */
const MAX_FAILURES = 4
/** The pause between attempts to open the data file again. */
const REOPEN_MS = 1000
/** How long a write is only in the journal. Space on the disk is assured for about this long. */
const JOURNAL_MS = 1000
/** How often the space on the disk is looked at while nothing is written: others may be filling it. */
const LOOK_MS = 5000

export interface WriterFiles {
  readonly tables: Tables
  readonly journal: Journal
  readonly diskSpace: DiskSpace
  readonly pace: CommitPace
}

export function createWriter(
  { tables, journal, diskSpace, pace }: WriterFiles,
  { nextMaintenance, committed, needSpace, reopen }: WriterEvents,
): Writer {
  const { recent } = journal
  let state = withRecent(readState(tables))
  let queue: Operation[] = []
  /** On a full disk: writes that add no data, one at a time, each after the removal of history. */
  let rescued: Operation[] = []
  /** The latest group failed for lack of space. */
  let isFull = false
  let running = false
  /** New work arrived since the last group was taken. */
  let awake = false
  let changing: ReadonlyMap<string, unknown> | undefined
  /** Set when nothing can be written until the directory is opened again. */
  let fatalError: StorageError | undefined
  let hasFailed = false
  let isClosed = false
  const whenIdle: (() => void)[] = []
  /**
   * The next group goes to the tables, and with it what is in the journal. So does what a start has found there: a sync that
   * failed before may have left it in memory only, and then the records after it could not be read.
   */
  let emptiesJournal = recent.events.length > 0
  let journalTimer: NodeJS.Timeout | undefined
  let looksAtDisk = false
  const lookTimer = setInterval(lookAtDisk, LOOK_MS).unref()
  /** The revisions of entries that guard others, which are few and large: reading one for each write would cost too much. */
  const guardRevisions = new Map<string, Revision>()

  function wake(): void {
    awake = true
    if (running) return
    running = true
    setImmediate(() => void run())
  }

  async function run(): Promise<void> {
    while (awake) {
      awake = false
      if (await runGroup()) {
        awake = true
        await turn()
      }
    }
    running = false
    for (const resolve of whenIdle.splice(0)) resolve()
  }

  function lookAtDisk(): void {
    looksAtDisk = true
    wake()
  }

  /** Commits the next group; whether there may be another one. */
  async function runGroup(): Promise<boolean> {
    if (looksAtDisk && !fatalError) {
      looksAtDisk = false
      await diskSpace.keepReserve()
    }
    if (isFull && (await runOnFullDisk())) return true
    const { group, taken } = prepare(queue)
    queue = taken === queue.length ? [] : queue.slice(taken)
    const maintenance = nextMaintenance({ entries: group.events.length, bytes: group.bytes })
    if (fatalError) maintenance?.failed(fatalError, true)
    else if (group.events.length > 0 || maintenance || emptiesJournal) await commitOrReopen(group, maintenance)
    return queue.length > 0 || maintenance !== undefined
  }

  /** First the removal of history alone, then the rescued writes one by one; false if there is neither. */
  async function runOnFullDisk(): Promise<boolean> {
    const maintenance = fatalError ? undefined : nextMaintenance(NOTHING)
    if (!maintenance && rescued.length === 0) return false
    const { group } = prepare(maintenance ? [] : rescued.splice(0, 1))
    if (group.events.length > 0 || maintenance) await commitOrReopen(group, maintenance)
    // What the last one has replaced is removed too.
    if (!maintenance && rescued.length === 0) needSpace()
    return true
  }

  /**
   * Checks the operations in order of arrival, as many as a group may have. Refusals that do not depend on the group
   * resolve at once.
   */
  function prepare(operations: readonly Operation[]): { readonly group: Group; readonly taken: number } {
    const group: Group = { events: [], changed: new Map(), answers: [], bytes: 0 }
    let { revision } = state
    let taken = 0
    for (; taken < operations.length && taken < MAX_OPERATIONS && group.bytes < MAX_BYTES; taken++) {
      const operation = operations[taken]!
      const { key, value, expected } = operation
      if (fatalError) {
        operation.reject(fatalError)
        continue
      }
      const inGroup = group.changed.has(key)
      let previous: Entry | undefined
      try {
        for (const guard of eachGuard(operation.guard)) {
          if (revisionOf(guard.key, group) !== guard.revision) throw guardChanged(guard.key)
        }
        previous = inGroup ? group.changed.get(key) : latest(key)
      } catch (error) {
        operation.reject(readFailure(error))
        continue
      }
      if ((previous?.revision ?? 0) === expected) {
        revision++
        group.bytes += (value?.length ?? 0) + (previous?.value.length ?? 0)
        group.changed.set(key, value && { key, value, revision })
        group.events.push({ revision, key, value, previous })
        group.answers.push({ operation, result: { done: true, revision } })
      } else {
        const refusal = { done: false, current: previous } as const
        if (inGroup) group.answers.push({ operation, result: refusal })
        else operation.resolve(refusal)
      }
    }
    return { group, taken }
  }

  function latest(key: string): Entry | undefined {
    const written = recent.find(key)
    return written ? written.entry : currentEntry(tables, key)
  }

  /** The revision of an entry after the writes of the group so far; 0 if there is none. */
  function revisionOf(key: string, { changed }: Group): Revision {
    if (changed.has(key)) return changed.get(key)?.revision ?? 0
    let revision = guardRevisions.get(key)
    if (revision === undefined) guardRevisions.set(key, (revision = latest(key)?.revision ?? 0))
    return revision
  }

  /** An error that is not expected does not end the writer: the data file, opened again, shows what was written. */
  async function commitOrReopen(group: Group, maintenance: MaintenanceStep | undefined): Promise<void> {
    try {
      await commit(group, maintenance)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      const error = new StorageError(
        'outcome-unknown',
        `a write failed in a way that is not known: ${reason}`,
        undefined,
        cause,
      )
      const fatal = new StorageError('unavailable', `nothing can be written: ${reason}`, undefined, cause)
      hasFailed = true
      giveUpUntilReopened(group, { error, fatal }, maintenance)
    }
  }

  async function commit(group: Group, maintenance: MaintenanceStep | undefined): Promise<void> {
    const { events, changed, answers } = group
    const written: StoreState = { ...state, revision: events.at(-1)?.revision ?? state.revision }
    changing = changed
    if (!maintenance && !emptiesJournal && !isFull) {
      const isWritten = journal.append(events, group.bytes, state)
      if (isWritten === true || (await isWritten)) {
        // In the same turn as the new revision: readers subtract one from the other.
        recent.add(events, group.bytes)
        journalTimer ??= emptyJournalLater()
        return acknowledge(group, written)
      }
    }
    const next = { ...written, compacted: maintenance?.compacted ?? state.compacted, epoch: state.epoch + 1 }
    try {
      await commitToTables(group, next, maintenance)
    } catch (cause) {
      const { error, fatal } = await failureOf(cause, tables, inTables())
      hasFailed = error.code !== 'no-space'
      // The tables may have more than was acknowledged: `changing` stays set, so that reads look past it.
      if (fatal) return recover(group, next, { error, fatal }, maintenance)
      changing = undefined
      maintenance?.failed(error, events.length === 0)
      // Writes must not fail because of maintenance work: try again without it.
      if (maintenance && events.length > 0) return commit(group, undefined)
      const refusal = await withJournal(error)
      if (refusal.code === 'no-space') return rescue(group, refusal)
      for (const { operation } of answers) operation.reject(refusal)
      return undefined
    }
    journalEmptied()
    if (events.length > 0 && rescued.length === 0 && !events.every(addsNoData)) isFull = false
    return acknowledge(group, next, maintenance)
  }

  function acknowledge({ events, changed, answers }: Group, next: StoreState, maintenance?: MaintenanceStep): void {
    state = next
    changing = undefined
    hasFailed = false
    for (const key of changed.keys()) guardRevisions.delete(key)
    maintenance?.committed()
    committed(events)
    for (const { operation, result } of answers) operation.resolve(result)
  }

  async function commitToTables(
    { events, bytes }: Group,
    next: StoreState,
    maintenance: MaintenanceStep | undefined,
  ): Promise<void> {
    const all = recent.events.length > 0 ? [...recent.events, ...events] : events
    const reserving = diskSpace.reserve(needOf(all, maintenance, events.every(addsNoData)))
    if (reserving) await reserving
    const put = (): void => {
      putEvents(tables, all, next)
      maintenance?.apply?.()
    }
    if (!maintenance && pace.isAtOnce(all.length, bytes)) commitAtOnce(put)
    else await commitOnThread(put)
  }

  /** The state that the tables should have: the acknowledged one without what is only in the journal. */
  const inTables = (): StoreState => ({ ...state, revision: state.revision - recent.events.length })

  /** The state of the tables, with what is only in the journal. */
  function withRecent(stored: StoreState): StoreState {
    return { ...stored, revision: stored.revision + recent.events.length }
  }

  /** A group that neither the journal nor the tables have taken comes back after a restart if the journal still has it. */
  async function withJournal(failure: StorageError): Promise<StorageError> {
    if (failure.code === 'outcome-unknown' || (await journal.cutOff())) return failure
    const message = `a write failed, and may be found after a restart: ${failure.message}`
    return new StorageError('outcome-unknown', message, undefined, failure)
  }

  function emptyJournalLater(): NodeJS.Timeout {
    return setTimeout(emptyJournal, JOURNAL_MS).unref()
  }

  function emptyJournal(): void {
    if (recent.events.length === 0) return
    emptiesJournal = true
    wake()
  }

  function journalEmptied(): void {
    emptiesJournal = false
    clearTimeout(journalTimer)
    journalTimer = undefined
    journal.emptied()
  }

  /** On a full disk, writes that add no data are tried again, each alone, so that the disk can be emptied. */
  function rescue({ answers, events }: Group, error: StorageError): void {
    isFull = true
    const harmless = new Set(events.filter(addsNoData).map(({ revision }) => revision))
    for (const { operation, result } of answers) {
      const isHarmless = result.done && harmless.has(result.revision)
      if (isHarmless && ++operation.failures < MAX_FAILURES) rescued.push(operation)
      else operation.reject(error)
    }
    // Not for a removal of history that failed itself: the rescued writes are tried next.
    if (answers.length > 0 && rescued.length > 0) needSpace()
  }

  /**
   * LMDB refuses everything after such a failure, so that the file is opened again. What it holds then decides whether
   * the group was written.
   */
  async function recover(
    group: Group,
    next: StoreState,
    { error, fatal }: FatalFailure,
    maintenance: MaintenanceStep | undefined,
  ): Promise<void> {
    fatalError = fatal
    if (!(await reopened())) return giveUpUntilReopened(group, { error, fatal }, maintenance)
    if (isSameState(readState(tables), next)) return acknowledge(group, next, maintenance)
    const notWritten = new StorageError('unavailable', `nothing was written: ${error.message}`, undefined, error)
    maintenance?.failed(notWritten, group.events.length === 0)
    const refusal = await withJournal(notWritten)
    for (const { operation } of group.answers) operation.reject(refusal)
  }

  function giveUpUntilReopened(
    { events, answers }: Group,
    { error, fatal }: FatalFailure,
    maintenance: MaintenanceStep | undefined,
  ): void {
    fatalError = fatal
    maintenance?.failed(error, events.length === 0)
    for (const { operation } of answers) operation.reject(error)
    void reopenLater(events)
  }

  async function reopened(): Promise<boolean> {
    try {
      await reopen()
      const stored = readState(tables)
      if (stored.epoch !== state.epoch) journalEmptied()
      state = withRecent(stored)
      changing = undefined
      fatalError = undefined
      guardRevisions.clear()
      return true
    } catch {
      return false
    }
  }

  async function reopenLater(unknown: readonly StoreEvent[]): Promise<void> {
    const before = state.revision
    do {
      await new Promise(resolve => setTimeout(resolve, REOPEN_MS).unref())
      if (isClosed) return
    } while (!(await reopened()))
    if (state.revision > before) committed(unknown)
    wake()
  }

  function commitAtOnce(put: () => void): void {
    const begin = performance.now()
    try {
      tables.root.transactionSync(put)
    } finally {
      pace.took(performance.now() - begin)
    }
  }

  /** lmdb cannot roll back if the callback throws, so the error is kept until the transaction has ended. */
  async function commitOnThread(put: () => void): Promise<void> {
    let thrown: { readonly error: unknown } | undefined
    await tables.root.batch(() => {
      try {
        put()
      } catch (error) {
        thrown = { error }
      }
    })
    if (thrown) throw thrown.error
  }

  return {
    get state() {
      return state
    },
    get hasFailed() {
      return hasFailed
    },
    isChanging: key => changing?.has(key) ?? false,
    write(key, value, expected, guard) {
      return new Promise((resolve, reject) => {
        queue.push({ key, value, expected, guard, resolve, reject, failures: 0 })
        wake()
      })
    },
    wake,
    emptyJournal,
    stop() {
      isClosed = true
      clearTimeout(journalTimer)
      clearInterval(lookTimer)
    },
    idle: () => (running ? new Promise(resolve => whenIdle.push(resolve)) : Promise.resolve()),
  }
}

/** The space that a group takes, including its maintenance work. */
function needOf(events: readonly StoreEvent[], maintenance: MaintenanceStep | undefined, urgent: boolean): Need {
  const large: number[] = []
  for (const { value, previous } of events) {
    if (value && value.length > LARGE) large.push(value.length)
    if (previous && previous.value.length > LARGE) large.push(previous.value.length)
  }
  return { entries: events.length + (maintenance?.entries ?? 0), large, urgent }
}

/**
 * A delete, or an update as deletions need it: it marks an object as being deleted, or removes a finalizer. These may use
 * the reserve of a full disk. An update that leaves the length as it is, is neither.
 */
function addsNoData({ value, previous }: StoreEvent): boolean {
  if (value === undefined) return true
  const growth = previous ? value.length - previous.value.length : Number.POSITIVE_INFINITY
  return growth !== 0 && growth <= MARK_BYTES
}

/** What the beginning of a deletion adds to an object, at most. */
const MARK_BYTES = 512

const NOTHING: GroupSize = { entries: 0, bytes: 0 }

/** Values up to this size share a page with others. */
const LARGE = 1024

/** Lets callers whose writes just resolved queue their next write, so that it joins the next group. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
