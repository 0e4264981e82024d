// The one writer: it takes all writes that wait, checks each against what is on disk and what came before it in the
// same group, commits the group in one transaction, and only then tells watchers and callers.
//
// Nothing in memory is ahead of the disk. Should a commit fail, the group is forgotten and the next one starts from
// what is there.
import { StorageError } from '../storage-error.js'
import type { Entry, Revision, StoreEvent, WriteResult } from '../store.js'
import { failureOf } from './commit-failure.js'
import type { DiskSpace, Need } from './disk-space.js'
import { currentEntry } from './history.js'
import { isMilestone, readFailure, readState, STATE, type StoreState, type Tables } from './layout.js'

export interface Writer {
  /** The latest acknowledged state; the tables may be one group ahead of it. */
  readonly state: StoreState
  /** Whether the group that is being committed changes the key. */
  isChanging(key: string): boolean
  write(key: string, value: Buffer | undefined, expected: Revision): Promise<WriteResult>
  /** Asks `nextChore` for work, soon. */
  wake(): void
  /** Resolves when nothing is left to do. */
  idle(): Promise<void>
}

/** Housekeeping that goes along with a group. */
export interface Chore {
  /** Forget history up to here. */
  readonly compacted?: Revision
  /** How many entries it removes. */
  readonly entries?: number
  /** Adds its changes to the transaction of the group. */
  apply?(): void
  committed(): void
  /** `alone` tells that there was nothing else in the group. */
  failed(error: StorageError, alone: boolean): void
}

export interface WriterEvents {
  /** Work to go along with the next group. */
  nextChore(): Chore | undefined
  /** The events of a group that is on disk, before its writers are answered. */
  committed(events: readonly StoreEvent[]): void
}

interface Operation {
  readonly key: string
  readonly value: Buffer | undefined
  readonly expected: Revision
  resolve(result: WriteResult): void
  reject(error: unknown): void
}

/** A group in the making: what it changes, and what to answer once it is on disk. */
interface Group {
  readonly events: StoreEvent[]
  readonly changed: Map<string, Entry | undefined>
  readonly answers: { readonly operation: Operation; readonly result: WriteResult }[]
}

/** A group is large enough to share the cost of a flush and small enough not to hold up the event loop. */
const MAX_OPERATIONS = 1024
const MAX_BYTES = 16 * 1024 * 1024

export function createWriter(tables: Tables, room: DiskSpace, { nextChore, committed }: WriterEvents): Writer {
  let state = readState(tables)
  let queue: Operation[] = []
  let running = false
  /** Something came since the last group was taken. */
  let awake = false
  let changing: ReadonlyMap<string, unknown> | undefined
  /** Why nothing can be written any more until the folder is opened again. */
  let broken: StorageError | undefined
  const whenIdle: (() => void)[] = []

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

  /** Commits the next group; false when there was none. */
  async function runGroup(): Promise<boolean> {
    const operations = takeOperations()
    const group = prepare(operations)
    const chore = nextChore()
    if (broken) chore?.failed(broken, true)
    else if (group.events.length > 0 || chore) await commit(group, chore)
    return operations.length > 0 || chore !== undefined
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

  /** Checks operations in the order in which they came. Those that are refused in any case are answered. */
  function prepare(operations: readonly Operation[]): Group {
    const group: Group = { events: [], changed: new Map(), answers: [] }
    let { revision } = state
    for (const operation of operations) {
      const { key, value, expected } = operation
      if (broken) {
        operation.reject(broken)
        continue
      }
      const inGroup = group.changed.has(key)
      let previous: Entry | undefined
      try {
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

  async function commit(group: Group, chore: Chore | undefined): Promise<void> {
    const { events, changed, answers } = group
    const next: StoreState = {
      revision: events.at(-1)?.revision ?? state.revision,
      compacted: chore?.compacted ?? state.compacted,
    }
    changing = changed
    try {
      const making = room.ensure(needOf(events, chore))
      if (making) await making
      await inTransaction(() => {
        // First, so that the new state stands for whatever part of the rest there may be.
        void tables.meta.put(STATE, next)
        for (const event of events) apply(event)
        chore?.apply?.()
      })
    } catch (cause) {
      const { error, fatal } = await failureOf(cause, tables, state)
      // What the tables then hold may be more than was acknowledged: reads go on to look past it.
      if (fatal) broken = fatal
      else changing = undefined
      chore?.failed(error, events.length === 0)
      // Writes do not fail because of what was to go along with them.
      if (chore && events.length > 0 && !fatal) return commit(group, undefined)
      for (const { operation } of answers) operation.reject(error)
      return undefined
    }
    state = next
    changing = undefined
    chore?.committed()
    committed(events)
    for (const { operation, result } of answers) operation.resolve(result)
    return undefined
  }

  /** Commits what is put meanwhile. lmdb would not take that back if `put` threw, so it must know the outcome first. */
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

  /** The promises of lmdb are left alone here: what becomes of the transaction, becomes of all. */
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
    isChanging: key => changing?.has(key) ?? false,
    write(key, value, expected) {
      return new Promise((resolve, reject) => {
        queue.push({ key, value, expected, resolve, reject })
        wake()
      })
    },
    wake,
    idle: () => (running ? new Promise(resolve => whenIdle.push(resolve)) : Promise.resolve()),
  }
}

/** The room that a group takes, with what goes along with it. */
function needOf(events: readonly StoreEvent[], chore: Chore | undefined): Need {
  const large: number[] = []
  for (const { value, previous } of events) {
    if (value && value.length > LARGE) large.push(value.length)
    if (previous && previous.value.length > LARGE) large.push(previous.value.length)
  }
  return { entries: events.length + (chore?.entries ?? 0), large, urgent: events.length === 0 }
}

/** Less than a page takes with others. */
const LARGE = 1024

/** Lets those who were just answered come with their next write, so that it goes into the next group. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
