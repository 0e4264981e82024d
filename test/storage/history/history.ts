// A history: the operations of concurrent clients on a store, their outcomes, and the events of its watchers.
// Plain data, so that a checker can be used with a recorded history and with one written by hand.
// Times are ticks of one counter: only their order matters.
import type { Entry, ReadAt, Revision, StoreEvent } from '../../../src/storage/store.js'

export interface History {
  readonly operations: Operation[]
  readonly watchers: WatcherLog[]
  readonly incidents: Incident[]
}

/** An entry as a client saw it. Every write has a unique value, so a value identifies its write. */
export interface Seen {
  readonly key: string
  readonly value: string
  readonly revision: Revision
}

export interface Operation {
  readonly id: number
  readonly client: string
  readonly requested: Requested
  readonly calledAt: number
  /** Undefined while there is no outcome. */
  answeredAt: number | undefined
  outcome: Outcome
}

export type Requested = RequestedToRead | RequestedToWrite

export type RequestedToRead =
  | { readonly what: 'revision' }
  | { readonly what: 'get'; readonly key: string; readonly at: ReadAt }
  | {
      readonly what: 'range'
      readonly prefix: string
      readonly at: ReadAt
      readonly limit?: number | undefined
      readonly startAfter?: string | undefined
    }

export type RequestedToWrite =
  | { readonly what: 'create'; readonly key: string; readonly value: string }
  | { readonly what: 'update'; readonly key: string; readonly value: string; readonly expected: Revision }
  | { readonly what: 'delete'; readonly key: string; readonly expected: Revision }

export type Outcome =
  | { readonly is: 'revision'; readonly revision: Revision }
  | { readonly is: 'entry'; readonly entry: Seen | undefined }
  | {
      readonly is: 'page'
      readonly revision: Revision
      readonly entries: readonly Seen[]
      readonly remaining: number
    }
  | { readonly is: 'done'; readonly revision: Revision }
  | { readonly is: 'refused'; readonly current: Seen | undefined }
  /** An error after which a write was certainly not applied. */
  | { readonly is: 'failed'; readonly code: string; readonly message: string }
  /** The write may take effect at any time after its call, or never. Also the outcome of unfinished operations. */
  | { readonly is: 'unknown'; readonly code: string; readonly message: string }

/** One watch client: its sessions in order, each resumed where the one before it stopped. */
export interface WatcherLog {
  readonly name: string
  /** A prefix or a key. */
  readonly target: string
  readonly steps: WatchStep[]
}

export type WatchStep = { readonly time: number; readonly session: number } & (
  | { readonly is: 'opened'; readonly after: Revision }
  | { readonly is: 'event'; readonly event: SeenEvent }
  | { readonly is: 'progress'; readonly revision: Revision }
  | { readonly is: 'paused' }
  | { readonly is: 'resumed' }
  | { readonly is: 'closed' }
  | { readonly is: 'ended'; readonly code: string; readonly message: string }
)

export interface SeenEvent {
  readonly revision: Revision
  readonly key: string
  readonly value: string | undefined
  readonly previous: Seen | undefined
}

/** An action on the store itself that clients may notice. */
export type Incident = { readonly time: number } & (
  | { readonly is: 'compaction'; readonly to: Revision }
  | { readonly is: 'close' }
)

/** A broken rule, and the part of the history that shows it. */
export interface Violation {
  readonly rule: Rule
  readonly message: string
}

export type Rule =
  | 'answers' // an operation fails only with errors that the interface allows
  | 'authorship' // every seen value was written once, by a write that was not refused, at its reported revision
  | 'linearizable' // the operations on a key have an order that explains all their outcomes
  | 'real-time' // an operation called after an outcome has a later revision
  | 'snapshot' // a page has the entries of the prefix at its revision
  | 'watch-calls' // a sink is called while its watch is open and not paused
  | 'watch-ordered'
  | 'watch-unique'
  | 'watch-reliable'
  | 'watch-previous'
  | 'watch-progress'
  | 'watch-resumable'

export const isWrite = (requested: Requested): requested is RequestedToWrite =>
  requested.what === 'create' || requested.what === 'update' || requested.what === 'delete'

/** The revision that the key must have for the write to be applied; 0 if it must not exist. */
export const expectedBy = (requested: RequestedToWrite): Revision =>
  requested.what === 'create' ? 0 : requested.expected

export const valueOf = (requested: RequestedToWrite): string | undefined =>
  requested.what === 'delete' ? undefined : requested.value

/** Whether a key has the prefix, or is the target itself. */
export const covers = (target: string, key: string): boolean =>
  target.endsWith('/') ? key.startsWith(target) : key === target

export const sameEntry = (a: Seen | undefined, b: Seen | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.value === b.value && a.revision === b.revision && a.key === b.key)

export const seen = (entry: Entry | undefined): Seen | undefined =>
  entry && { key: entry.key, value: entry.value.toString(), revision: entry.revision }

export const seenEvent = ({ revision, key, value, previous }: StoreEvent): SeenEvent => ({
  revision,
  key,
  value: value?.toString(),
  previous: seen(previous),
})
