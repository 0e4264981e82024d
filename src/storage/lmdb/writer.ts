// The only writer. It takes all waiting writes, checks each against the stored entry and the earlier writes of the same
// group, commits the group in one transaction, and only then notifies watchers and callers.
//
// No state in memory is ahead of the disk. If a commit fails, its group is discarded and the next one starts from the
// stored state.
import { guardChanged, StorageError } from '../storage-error.js'
import type { Entry, Guard, Revision, StoreEvent, WriteResult } from '../store.js'
import { failureOf } from './commit-failure.js'
import type { DiskSpace, Need } from './disk/disk-space.js'
import { currentEntry } from './history.js'
import { isMilestone, readFailure, readState, STATE, type StoreState, type Tables } from './layout.js'

export interface Writer {
  /** The latest acknowledged state; the tables may be one group ahead of it. */
  readonly state: StoreState
  /** Set when nothing can be written until the directory is opened again. */
  readonly fatalError: StorageError | undefined
  /** Whether the group that is being committed changes the key. */
  isChanging(key: string): boolean
  write(key: string, value: Buffer | undefined, expected: Revision, guard?: Guard): Promise<WriteResult>
  /** Schedules a call of `nextMaintenance`. */
  wake(): void
  /** Resolves when no work is left. */
  idle(): Promise<void>
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
  /** The work to commit with the next group, if any. */
  nextMaintenance(): MaintenanceStep | undefined
  /** The events of a group that is on disk, before its writes are answered. */
  committed(events: readonly StoreEvent[]): void
}

interface Operation {
  readonly key: string
  readonly value: Buffer | undefined
  readonly expected: Revision
  readonly guard: Guard | undefined
  resolve(result: WriteResult): void
  reject(error: unknown): void
}

/** A group being prepared: its changes, and the results to return once it is on disk. */
interface Group {
  readonly events: StoreEvent[]
  readonly changed: Map<string, Entry | undefined>
  readonly answers: { readonly operation: Operation; readonly result: WriteResult }[]
}

/** Large enough to share the cost of a flush, small enough not to block the event loop. */
const MAX_OPERATIONS = 1024
const MAX_BYTES = 16 * 1024 * 1024

export function createWriter(
  tables: Tables,
  diskSpace: DiskSpace,
  { nextMaintenance: nextChore, committed }: WriterEvents,
): Writer {
  let state = readState(tables)
  let queue: Operation[] = []
  let running = false
  /** New work arrived since the last group was taken. */
  let awake = false
  let changing: ReadonlyMap<string, unknown> | undefined
  /** Set when nothing can be written until the directory is opened again. */
  let fatalError: StorageError | undefined
  const whenIdle: (() => void)[] = []
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

  /** Commits the next group; false if there was none. */
  async function runGroup(): Promise<boolean> {
    const operations = takeOperations()
    const group = prepare(operations)
    const maintenance = nextChore()
    if (fatalError) maintenance?.failed(fatalError, true)
    else if (group.events.length > 0 || maintenance) await commit(group, maintenance)
    return operations.length > 0 || maintenance !== undefined
  }

  function takeOperations(): Operation[] {
    let count = 0
    let bytes = 0
    for (; count < queue.length && count < MAX_OPERATIONS && bytes < MAX_BYTES; count++) {
      bytes += queue[count]!.value?.length ?? 0
    }
    if (count === queue.length) {
      const all = queue
      queue = []
      return all
    }
    return queue.splice(0, count)
  }

  /** Checks the operations in order of arrival. Refusals that do not depend on the group resolve at once. */
  function prepare(operations: readonly Operation[]): Group {
    const group: Group = { events: [], changed: new Map(), answers: [] }
    let { revision } = state
    for (const operation of operations) {
      const { key, value, expected } = operation
      if (fatalError) {
        operation.reject(fatalError)
        continue
      }
      const inGroup = group.changed.has(key)
      let previous: Entry | undefined
      try {
        if (operation.guard && revisionOf(operation.guard.key, group) !== operation.guard.revision) {
          throw guardChanged(operation.guard.key)
        }
        previous = inGroup ? group.changed.get(key) : currentEntry(tables, key)
      } catch (error) {
        operation.reject(readFailure(error))
        continue
      }
      if ((previous?.revision ?? 0) === expected) {
        revision++
        group.changed.set(key, value && { key, value, revision })
        group.events.push({ revision, key, value, previous })
        group.answers.push({ operation, result: { done: true, revision } })
      } else {
        const refusal = { done: false, current: previous } as const
        if (inGroup) group.answers.push({ operation, result: refusal })
        else operation.resolve(refusal)
      }
    }
    return group
  }

  /** The revision of an entry after the writes of the group so far; 0 if there is none. */
  function revisionOf(key: string, { changed }: Group): Revision {
    if (changed.has(key)) return changed.get(key)?.revision ?? 0
    let revision = guardRevisions.get(key)
    if (revision === undefined) guardRevisions.set(key, (revision = currentEntry(tables, key)?.revision ?? 0))
    return revision
  }

  async function commit(group: Group, maintenance: MaintenanceStep | undefined): Promise<void> {
    const { events, changed, answers } = group
    const next: StoreState = {
      revision: events.at(-1)?.revision ?? state.revision,
      compacted: maintenance?.compacted ?? state.compacted,
    }
    changing = changed
    try {
      const reserving = diskSpace.reserve(needOf(events, maintenance))
      if (reserving) await reserving
      await inTransaction(() => {
        // First, so that the new state is stored even if only a part of the rest is.
        void tables.meta.put(STATE, next)
        for (const event of events) apply(event)
        maintenance?.apply?.()
      })
    } catch (cause) {
      const { error, fatal } = await failureOf(cause, tables, state)
      // The tables may have more than was acknowledged: `changing` stays set, so that reads look past it.
      if (fatal) fatalError = fatal
      else changing = undefined
      maintenance?.failed(error, events.length === 0)
      // Writes must not fail because of maintenance work: try again without it.
      if (maintenance && events.length > 0 && !fatal) return commit(group, undefined)
      for (const { operation } of answers) operation.reject(error)
      return undefined
    }
    state = next
    changing = undefined
    for (const key of changed.keys()) guardRevisions.delete(key)
    maintenance?.committed()
    committed(events)
    for (const { operation, result } of answers) operation.resolve(result)
    return undefined
  }

  /** lmdb cannot roll back if the callback throws, so the error is kept until the transaction has ended. */
  async function inTransaction(put: () => void): Promise<void> {
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

  /** The promises of single operations are ignored: they have the outcome of the transaction. */
  function apply({ revision, key, value, previous }: StoreEvent): void {
    if (value) void tables.current.put(key, value, revision)
    else void tables.current.remove(key)
    const record = { key, deleted: !value, previous }
    void tables.log.put(revision, record)
    if (isMilestone(revision, record)) void tables.milestones.put([key, revision], undefined)
  }

  return {
    get state() {
      return state
    },
    get fatalError() {
      return fatalError
    },
    isChanging: key => changing?.has(key) ?? false,
    write(key, value, expected, guard) {
      return new Promise((resolve, reject) => {
        queue.push({ key, value, expected, guard, resolve, reject })
        wake()
      })
    },
    wake,
    idle: () => (running ? new Promise(resolve => whenIdle.push(resolve)) : Promise.resolve()),
  }
}

/** The space that a group takes, including its maintenance work. */
function needOf(events: readonly StoreEvent[], maintenance: MaintenanceStep | undefined): Need {
  const large: number[] = []
  for (const { value, previous } of events) {
    if (value && value.length > LARGE) large.push(value.length)
    if (previous && previous.value.length > LARGE) large.push(previous.value.length)
  }
  return { entries: events.length + (maintenance?.entries ?? 0), large, urgent: events.length === 0 }
}

/** Values up to this size share a page with others. */
const LARGE = 1024

/** Lets callers whose writes just resolved queue their next write, so that it joins the next group. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
