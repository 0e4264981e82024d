// The storage interface: ordered keys, byte values, and a revision that only grows. memory/, lmdb/, etcd/ and cache/
// implement it, and store.suite.ts tests each of them against the rules stated here.
import type { Revision } from './revision.js'
import type { StorageError } from './storage-error.js'

export type { Revision }

/** The current value of a key. Callers must not change its bytes. */
export interface Entry {
  readonly key: string
  readonly value: Buffer
  /** The revision of the write that stored this value. */
  readonly revision: Revision
}

/**
 * How fresh a read must be:
 * - `latest`: it sees every write that was acknowledged before the read began (the default);
 * - `any`: the cheapest available state, which may be old;
 * - `notOlderThan`: any state at that revision or later;
 * - `exactly`: the state at that revision.
 * A revision that is not reached yet fails with `future-revision`, a compacted one with `compacted`.
 */
export type ReadAt = 'latest' | 'any' | { readonly notOlderThan: Revision } | { readonly exactly: Revision }

export interface RangeOptions {
  readonly at?: ReadAt | undefined
  /** At most this many entries; all of them when not given. */
  readonly limit?: number | undefined
  /** A page ends with the entry that brings it to so many bytes. It always has an entry, if there is one. */
  readonly maxBytes?: number | undefined
  /** Only keys that sort after this one. */
  readonly startAfter?: string | undefined
  /** `remaining` only says whether there are more entries: counting them may cost more than the page. */
  readonly isUncounted?: boolean | undefined
}

/** The entries under a key prefix in key order, all as of one revision. */
export interface Page {
  readonly revision: Revision
  readonly entries: readonly Entry[]
  /** How many more entries the prefix has after the last one of this page; at least 1 if it has any. */
  readonly remaining: number
}

/** The outcome of a write: done at a revision, or refused because the key was not in the expected state. */
export type WriteResult =
  | { readonly done: true; readonly revision: Revision }
  | { readonly done: false; readonly current: Entry | undefined }

/**
 * Another entry that must be at this revision when a write is applied, or absent if that is 0. A write whose guard does
 * not hold is refused with `guard-changed`.
 */
export interface Guard {
  readonly key: string
  readonly revision: Revision
  /** Another one that must hold, too. */
  readonly and?: Guard | undefined
}

/** A guard and those that must hold with it. */
export function* eachGuard(guard: Guard | undefined): Generator<Guard, void> {
  for (let each = guard; each; each = each.and) yield each
}

/** One write, as watchers receive it. It is a create if `previous` is undefined, and a delete if `value` is. */
export interface StoreEvent {
  readonly revision: Revision
  readonly key: string
  /** The new value; undefined when the key was deleted. */
  readonly value: Buffer | undefined
  /** The entry that the write replaced; undefined when the key was created. */
  readonly previous: Entry | undefined
}

/** The receiver of a watch. Calls come one at a time, never from inside `watch()` itself. */
export interface WatchSink<E extends StoreEvent = StoreEvent> {
  /** Receives an event. Returning `false` pauses the watch: no event follows until `Watch.resume()`. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a sink that never pauses need not return a value
  event(event: E): boolean | void
  /** The receiver has the entry before each event: a store that would have to read it may leave `previous` out. */
  readonly knowsPrevious?: boolean
  /** Every event up to this revision has been delivered. */
  progress?(revision: Revision): void
  /** The store ended the watch with this error. Not called after `Watch.close()`. */
  end(error: StorageError): void
}

export interface Watch {
  /** Continues a watch that its sink paused by returning `false`. */
  resume(): void
  /**
   * Requests a `progress` call at a revision not older than `reached`, which the store has reached. Without it, not older
   * than the latest acknowledged write.
   */
  requestProgress(reached?: Revision): void
  close(): void
}

export interface Store {
  /**
   * True when this process is the only writer and its reads are local: `latest` then costs no more than `any`,
   * and a cache need not hold a second copy of the values.
   */
  readonly embedded: boolean

  /**
   * The revision of the latest acknowledged write. `under` is a key prefix: of the store that has its keys, where resources
   * have stores of their own.
   */
  revision(under?: string): Promise<Revision>

  /** Synchronous `revision`, only on stores whose reads are local. */
  revisionNow?(): Revision

  get(key: string, at?: ReadAt): Promise<Entry | undefined>

  /** Synchronous `get`, only on stores whose reads are local. Throws the errors that `get` rejects with. */
  getNow?(key: string, at?: ReadAt): Entry | undefined

  /** A revision since which nothing under the prefix was written, if it is known. Only on stores whose reads are local. */
  lastChange?(prefix: string): Revision | undefined

  /** Reads the entries under a key prefix: a string that begins and ends with `/`. */
  range(prefix: string, options?: RangeOptions): Promise<Page>

  /** Writes resolve once they are as durable as the store makes them. */
  create(key: string, value: Uint8Array, guard?: Guard): Promise<WriteResult>
  /** `expected` is the revision of the entry that the caller read and wants to replace. */
  update(key: string, value: Uint8Array, expected: Revision, guard?: Guard): Promise<WriteResult>
  delete(key: string, expected: Revision): Promise<WriteResult>

  /**
   * Writes a value, whatever the key has now. The store deletes it by itself when it was not written again for so many
   * seconds, or a little later. Only on stores that several processes share.
   */
  putWithTtl?(key: string, value: Uint8Array, seconds: number): Promise<void>

  /**
   * Delivers every write with a revision greater than `after` to a key, or to any key under a prefix: in order, each
   * once, none missing, also across broken connections. Ends with `compacted` when history no longer reaches back to
   * `after`, with `future-revision` when `after` is not reached yet.
   */
  watch(target: string, after: Revision, sink: WatchSink): Watch

  /** Discards history: reads and watches from before `revision` fail with `compacted` from now on. */
  compact(revision: Revision): Promise<void>

  /** Rejects with the reason if the store cannot read and write now, and does so soon: for health checks. */
  check(): Promise<void>

  /** The same for each of the further stores that some resources have. */
  readonly checkOthers?: readonly (() => Promise<void>)[]

  /**
   * Whether the value of a key is stored in another way than it would be now, such as encrypted under an older key. It is
   * written again then, even if nothing in it changes.
   */
  isStale?(key: string): Promise<boolean>

  /** Whether the value of a key could be read once and cannot be now: then a cache that has it must not answer for it. */
  isUnreadable?(key: string): boolean

  /** How many bytes the whole database takes, where the store can say so. */
  size?(): Promise<number>

  /** Finishes running operations, ends watches with `closed`, and releases files and connections. */
  close(): Promise<void>
}
