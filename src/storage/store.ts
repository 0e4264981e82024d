// The one interface between Binnacle and what it keeps: ordered keys, bytes, and a revision that only grows.
// memory/, lmdb/, etcd/ and cache/ implement it; store.suite.ts says in tests what is promised here in words.
import type { Revision } from './revision.js'
import type { StorageError } from './storage-error.js'

export type { Revision }

/** A value as it stands at its key. Its bytes are the caller's to read and nobody's to change. */
export interface Entry {
  readonly key: string
  readonly value: Buffer
  /** The revision of the write that put this value there. */
  readonly revision: Revision
}

/**
 * How fresh a read must be:
 * - `latest`: it sees every write that was acknowledged before the read began (the default);
 * - `any`: whatever is at hand and cheapest;
 * - `notOlderThan`: any state at that revision or later;
 * - `exactly`: the state as it was at that revision.
 * A revision that has not happened yet fails with `future-revision`, one that history no longer holds with `compacted`.
 */
export type ReadAt = 'latest' | 'any' | { readonly notOlderThan: Revision } | { readonly exactly: Revision }

export interface RangeOptions {
  readonly at?: ReadAt | undefined
  /** At most this many entries; all of them when not given. */
  readonly limit?: number | undefined
  /** Only keys that sort after this one. */
  readonly startAfter?: string | undefined
}

/** The entries of a folder in key order, all as of one revision. */
export interface Page {
  readonly revision: Revision
  readonly entries: readonly Entry[]
  /** How many more entries the folder holds beyond the last one of this page. */
  readonly remaining: number
}

/** What became of a write: done at a revision, or refused because the key was not in the expected state. */
export type WriteResult =
  | { readonly done: true; readonly revision: Revision }
  | { readonly done: false; readonly current: Entry | undefined }

/** One write, as watchers see it: created when nothing was there before, deleted when nothing is there now. */
export interface StoreEvent {
  readonly revision: Revision
  readonly key: string
  /** The new value; undefined when the key was deleted. */
  readonly value: Buffer | undefined
  /** What the write replaced; undefined when the key was created. */
  readonly previous: Entry | undefined
}

/** The receiving end of a watch. Calls come one at a time, never from inside `watch()` itself. */
export interface WatchSink<E extends StoreEvent = StoreEvent> {
  /** Takes an event. Answering `false` means "no more for now": nothing follows until `Watch.resume()`. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a sink that never pauses need not answer
  event(event: E): boolean | void
  /** Every event up to this revision has been delivered. */
  progress?(revision: Revision): void
  /** The store ended the watch, and why. Not called after `Watch.close()`. */
  end(error: StorageError): void
}

export interface Watch {
  /** Goes on after the sink answered `false`. */
  resume(): void
  /** Asks for a `progress` call at a revision not older than the latest acknowledged write. */
  requestProgress(): void
  close(): void
}

export interface Store {
  /**
   * True when this process is the only writer and its reads are local: `latest` then costs no more than `any`,
   * and a cache need not hold a second copy of the values.
   */
  readonly embedded: boolean

  /** The revision of the latest acknowledged write. */
  revision(): Promise<Revision>

  get(key: string, at?: ReadAt): Promise<Entry | undefined>

  /** The same without waiting, where reads are local. Throws what `get` rejects with. */
  getNow?(key: string, at?: ReadAt): Entry | undefined

  /** The entries of a folder: a string that begins and ends with `/`. */
  range(prefix: string, options?: RangeOptions): Promise<Page>

  /** Writes are answered once they are as durable as the store makes them. */
  create(key: string, value: Uint8Array): Promise<WriteResult>
  /** `expected` is the revision of the entry that the caller has seen and means to replace. */
  update(key: string, value: Uint8Array, expected: Revision): Promise<WriteResult>
  delete(key: string, expected: Revision): Promise<WriteResult>

  /**
   * Delivers every write to a key, or to any key of a folder, whose revision is greater than `after`: in order, each
   * once, none missing, however often connections break underneath. Ends with `compacted` when history no longer
   * reaches back to `after`, with `future-revision` when `after` has not happened yet.
   */
  watch(target: string, after: Revision, sink: WatchSink): Watch

  /** Forgets history: reads and watches from before `revision` answer `compacted` from now on. */
  compact(revision: Revision): Promise<void>

  /** Answers what is under way, ends watches with `closed`, lets go of files and connections. */
  close(): Promise<void>
}
