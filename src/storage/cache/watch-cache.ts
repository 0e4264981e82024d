// A store's window on one resource: one upstream watch of a folder feeds any number of watchers, and reads are
// answered from as near as their freshness allows.
//
//          watchers of a key, a folder, or a folder and a term
//                │ each a position in …
//          the window of recent events  ──  far stores only: all entries in memory
//                │                               │
//                └──────── one upstream watch ───┘           before the window: the store's own history
//                               │                                         │
//                            the store ───────────────────────────────────┘
//
// Whatever the cache cannot answer surely and soon, the store answers: so the cache is never stale and never hangs.
import { checkFolder, checkKey, checkRange, checkReadAt, checkRevision, checkTarget } from '../keys.js'
import { closed, StorageError } from '../storage-error.js'
import type { Page, RangeOptions, ReadAt, Revision, Store, Watch, WatchSink } from '../store.js'
import { type CacheWatch, startCacheWatch } from './cache-watch.js'
import {
  type CachedEntry,
  type CachedEvent,
  createAttributeReader,
  type EntryAttributes,
  type GetAttributes,
} from './entry-attributes.js'
import { createAddresses, type Term } from './event-index.js'
import type { WindowLimits } from './event-window.js'
import { type FeedingStore, within } from './freshness.js'
import { type Feed, startFeed } from './reflector.js'
import type { ResidentState } from './resident-state.js'

export interface CachedPage<F> extends Page {
  readonly entries: readonly CachedEntry<F>[]
}

/** A store of the keys within one folder. Writes pass through it; closing it leaves the store behind it open. */
export interface WatchCache<F> extends Store {
  get(key: string, at?: ReadAt): Promise<CachedEntry<F> | undefined>
  getNow?(key: string, at?: ReadAt): CachedEntry<F> | undefined
  range(prefix: string, options?: RangeOptions): Promise<CachedPage<F>>
  /**
   * With a term, the target is a folder and only those events come whose new or previous facts have the term; they
   * cost nothing to watchers of other terms. A watcher that pauses for too long ends with `slow-watcher`; when the
   * upstream watch was interrupted, all end with `compacted`.
   */
  watch(target: string, after: Revision, sink: WatchSink<CachedEvent<F>>, term?: Term): Watch
  /** Ends all watches, those to come too, as closing does; reads and writes that are under way may still finish. */
  retire(): void
}

export interface WatchCacheOptions<F> {
  /** Works out the facts of a value. */
  readonly getAttributes?: GetAttributes<F>
  /** How many recent events are kept for watchers that start in the past or pause. */
  readonly window?: Partial<WindowLimits>
  /** Of how many entries the facts are kept, where the entries themselves are not. */
  readonly factsKept?: number
  /** How many entries are loaded at once, where the cache holds them. */
  readonly pageSize?: number
  /** How long a reader waits for the cache before the store is asked, in milliseconds. */
  readonly patience?: number
  /** How often the upstream watch is asked for progress while someone waits for it, in milliseconds. */
  readonly progressEvery?: number
  /** How long after a load that failed the next is tried at first, in milliseconds; doubles up to 64 times that. */
  readonly retryAfter?: number
}

const MAX_BACK_OFF = 64

export function createWatchCache<F = undefined>(
  store: FeedingStore,
  prefix: string,
  options: WatchCacheOptions<F> = {},
): WatchCache<F> {
  checkFolder(prefix)
  const { getAttributes = noFacts, factsKept = 16_384, retryAfter = 100 } = options
  const { patience = 3_000, progressEvery = 100, pageSize = 500 } = options
  const window = { events: 8_192, bytes: 16 * 1024 * 1024, ...options.window }
  const describer = createAttributeReader(getAttributes, factsKept)
  const addresses = createAddresses<F>(prefix)
  const watches = new Set<CacheWatch>()
  let isRetired = false
  let isClosed = false

  let feed: Feed<F> | undefined
  /** Settled when the feed runs, or when it is certain or taking too long that it does not. */
  let starting: Promise<Feed<F> | undefined> | undefined
  /** How often in a row it failed or soon ended, and when it may be tried again. */
  let failures = 0
  let notBefore = 0
  let startedAt = 0

  /** The feed, started by the first who needs it; undefined when the store has to be asked instead. */
  function ready(): Promise<Feed<F> | undefined> {
    if (feed) return Promise.resolve(feed)
    if (isRetired || (!starting && performance.now() < notBefore)) return Promise.resolve(undefined)
    starting ??= within(patience, start())
    return starting
  }

  async function start(): Promise<Feed<F> | undefined> {
    try {
      const limits = { window, pageSize, patience, progressEvery }
      const started = await startFeed(store, prefix, describer, addresses, limits, () => {
        feed = undefined
        if (performance.now() - startedAt > retryAfter * MAX_BACK_OFF) failures = 0
        backOff()
      })
      if (isRetired) started.stop()
      if (isRetired || started.ended) return undefined
      feed = started
      startedAt = performance.now()
      for (const watch of watches) watch.feedStarted()
      return feed
    } catch {
      backOff()
      return undefined
    } finally {
      starting = undefined
    }
  }

  function backOff(): void {
    notBefore = performance.now() + retryAfter * Math.min(2 ** failures++, MAX_BACK_OFF)
  }

  /** A read: from memory where it holds the state asked for, otherwise from the store. */
  async function read<T>(
    at: ReadAt,
    fromMemory: (state: ResidentState<F>, revision: Revision) => T,
    fromStore: () => Promise<T>,
  ): Promise<T> {
    if (store.embedded) return fromStore()
    const running = await ready()
    if (!running?.state) return fromStore()
    const { state, window: seen, freshness } = running
    if (at === 'any') return fromMemory(state, seen.revision)
    if (at === 'latest' || 'notOlderThan' in at) {
      const fresh = await (at === 'latest' ? freshness.latest() : freshness.reach(at.notOlderThan))
      return fresh ? fromMemory(state, seen.revision) : fromStore()
    }
    return at.exactly >= state.changed && at.exactly <= seen.revision ? fromMemory(state, at.exactly) : fromStore()
  }

  function checkOpen(): void {
    if (isClosed) throw closed()
  }

  function retire(): void {
    isRetired = true
    for (const watch of watches) watch.end(closed())
    feed?.stop()
    feed = undefined
  }

  function checkKeyHere(key: string): void {
    checkOpen()
    checkKey(key)
    if (!key.startsWith(prefix)) throw elsewhere('invalid-key', key, prefix)
  }

  return {
    embedded: store.embedded,
    ...(store.getNow && {
      getNow(key: string, at?: ReadAt) {
        checkOpen()
        // The store checks the key.
        const entry = store.getNow!(key, at)
        if (!key.startsWith(prefix)) throw elsewhere('invalid-key', key, prefix)
        return entry && describer.entry(entry)
      },
    }),

    async revision() {
      checkOpen()
      return store.revision()
    },

    async get(key, at = 'latest') {
      checkKeyHere(key)
      checkReadAt(at)
      return read(
        at,
        state => state.get(key),
        async () => {
          const entry = await store.get(key, at)
          return entry && describer.entry(entry)
        },
      )
    },

    async range(of, rangeOptions = {}) {
      checkOpen()
      checkRange(of, rangeOptions)
      if (!of.startsWith(prefix)) throw elsewhere('invalid-folder', of, prefix)
      return read<CachedPage<F>>(
        rangeOptions.at ?? 'latest',
        (state, revision) => ({ revision, ...state.page(of, rangeOptions) }),
        async () => {
          const page = await store.range(of, rangeOptions)
          return { ...page, entries: page.entries.map(describer.entry) }
        },
      )
    },

    async create(key, value) {
      checkKeyHere(key)
      return store.create(key, value)
    },

    async update(key, value, expected) {
      checkKeyHere(key)
      return store.update(key, value, expected)
    },

    async delete(key, expected) {
      checkKeyHere(key)
      return store.delete(key, expected)
    },

    watch(target, after, sink, term) {
      if (isRetired) throw closed()
      checkTarget(target)
      checkRevision(after)
      if (term) checkFolder(target)
      if (!target.startsWith(prefix)) throw elsewhere('invalid-folder', target, prefix)
      const stopListening = term && addresses.listen(target, term.field)
      const source = { store, describer, feed: () => feed, ready }
      const watch = startCacheWatch(source, { target, term, after }, sink, finished => {
        watches.delete(finished)
        stopListening?.()
      })
      watches.add(watch)
      return watch
    },

    async compact(revision) {
      checkOpen()
      return store.compact(revision)
    },

    retire,

    async close() {
      isClosed = true
      retire()
    },
  }
}

// Who gives no `describe` has undefined for F.
const NO_FACTS = { indexedFields: {}, data: undefined } as EntryAttributes<never>
const noFacts = () => NO_FACTS

const elsewhere = (code: 'invalid-key' | 'invalid-folder', path: string, prefix: string): StorageError =>
  new StorageError(
    code,
    `${JSON.stringify(path)} is not in ${JSON.stringify(prefix)}, which is all that is cached here`,
  )
