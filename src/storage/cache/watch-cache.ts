// The watch cache of one resource: one upstream watch of a key prefix serves any number of watchers, and reads are
// answered from memory where the requested freshness allows.
//
//          watchers of a key, a prefix, or a prefix and a label or field value
//                │ each a position in …
//          the window of recent events  ──  remote stores only: all entries in memory
//                │                               │
//                └──────── one upstream watch ───┘           before the window: the store's own history
//                               │                                         │
//                            the store ───────────────────────────────────┘
//
// Requests that the cache cannot answer correctly and soon go to the store, so the cache is never stale and never hangs.
import type { Awaitable } from '../../base/awaitable.js'
import { checkKey, checkPrefix, checkRange, checkReadAt, checkRevision, checkTarget } from '../keys.js'
import { closed, StorageError } from '../storage-error.js'
import type { Page, RangeOptions, ReadAt, Revision, Store, Watch, WatchSink, WriteResult } from '../store.js'
import { type CacheWatch, startCacheWatch } from './cache-watch.js'
import { type ChangedEntries, changedSince, NOTHING_CHANGED } from './changed-entries.js'
import {
  type AttributeTerm,
  type CachedEntry,
  type CachedEvent,
  createAttributeReader,
  type EntryAttributes,
  type GetAttributes,
} from './entry-attributes.js'
import { createEventIndex } from './event-index.js'
import type { WindowLimits } from './event-window.js'
import { type UpstreamStore, within } from './freshness.js'
import { readIndexedPage, readIndexedPageNow } from './indexed-page.js'
import { createOwnWrites } from './own-writes.js'
import { type Reflector, startReflector } from './reflector.js'
import type { ResidentState } from './resident-state.js'

export interface CachedPage<F> extends Page {
  readonly entries: readonly CachedEntry<F>[]
  /** Every entry has all terms of the request. */
  readonly isSelected?: boolean
}

/** A revision of the store. If the store is restored from a backup, it may have another state at the same revision. */
export interface CacheMark {
  readonly revision: Revision
  readonly epoch: number
}

export interface CacheChanges<F> {
  readonly mark: CacheMark
  /** Oldest first. */
  readonly events: readonly CachedEvent<F>[]
}

export interface SelectOptions extends RangeOptions {
  /**
   * Only entries that have all these attributes, where an index knows them. It holds up to 32 MiB for each attribute and
   * 128 MiB in all, and reaches back as far as the window of events. Where it does not know, all entries are read.
   */
  readonly terms?: readonly AttributeTerm[] | undefined
  /** All pages will be read, so that it is worth waiting for an index that is being built. */
  readonly readsAll?: boolean | undefined
}

/** A store of the keys under one prefix. Writes pass through; closing it leaves the underlying store open. */
export interface WatchCache<F> extends Store {
  get(key: string, at?: ReadAt): Promise<CachedEntry<F> | undefined>
  getNow?(key: string, at?: ReadAt): CachedEntry<F> | undefined
  /**
   * The entry as far as this process knows it: with all that it has written itself, and maybe without what others have
   * written just now. For callers whose write fails if the entry has changed, and for those that may be a moment behind.
   * Undefined if there is none, if it is not known, and where the latest state costs no more.
   */
  getKnown(key: string): CachedEntry<F> | undefined
  /** With terms, `remaining` only says whether there may be more. */
  range(prefix: string, options?: SelectOptions): Promise<CachedPage<F>>
  /** The same at once, if an index finds it; otherwise undefined. */
  rangeNow(prefix: string, options: SelectOptions): CachedPage<F> | undefined
  /**
   * What was written under a prefix since a mark, up to what a read at `at` sees. Undefined if that is not known, or is
   * much: then the entries must be read. A promise only on stores that are not embedded.
   */
  changesSince(prefix: string, mark: CacheMark, at: ReadAt): Awaitable<CacheChanges<F> | undefined>
  /** The mark of a read that begins now and finds this revision. */
  mark(revision: Revision): CacheMark
  /**
   * With a term, the target is a prefix and only events whose new or previous entry has that attribute are
   * delivered; watchers of other values cost nothing. A watcher that pauses for too long ends with `slow-watcher`; if the
   * upstream watch was interrupted, all watchers end with `compacted`.
   */
  watch(target: string, after: Revision, sink: WatchSink<CachedEvent<F>>, term?: AttributeTerm): Watch
  readonly counts: Readonly<CacheCounts>
  /** The revision that the cache has seen, and how many events it keeps at most; undefined while it does not watch. */
  readonly seen: { readonly revision: Revision; readonly capacity: number } | undefined
  /** Ends all watches, and refuses new ones with `closed`; running reads and writes may still finish. */
  retire(): void
}

/** What a cache has done, for metrics. */
export interface CacheCounts {
  /** Events that came from the store. */
  events: number
  /** How often the cache began to watch the store. */
  starts: number
  /** Entries that were read for ranges. */
  fetched: number
}

export interface WatchCacheOptions<F> {
  /** Computes the attributes of a value. */
  readonly getAttributes?: GetAttributes<F>
  /** How many recent events are kept for watchers that start in the past or pause. */
  readonly window?: Partial<WindowLimits>
  /** The attributes of how many entries are cached, where the entries themselves are not in memory. */
  readonly attributesKept?: number
  /** How many entries are loaded at once, where the cache holds them. */
  readonly pageSize?: number
  /** How long a read waits for the cache or for an index before it goes to the store, in milliseconds. */
  readonly waitTimeout?: number
  /** How often progress of the upstream watch is requested while a read waits, in milliseconds. */
  readonly progressEvery?: number
  /** The first delay after a failed load, in milliseconds; doubles up to 64 times that. */
  readonly retryAfter?: number
}

const MAX_BACK_OFF = 64
/** To examine more events would take as long as to read some entries. */
const MAX_CHANGES = 1_000

export function createWatchCache<F = undefined>(
  store: UpstreamStore,
  prefix: string,
  options: WatchCacheOptions<F> = {},
): WatchCache<F> {
  checkPrefix(prefix)
  const { getAttributes = noAttributes, attributesKept: factsKept = 16_384, retryAfter = 100 } = options
  const { waitTimeout = 3_000, progressEvery = 100, pageSize = 500 } = options
  const window = { events: 8_192, bytes: 16 * 1024 * 1024, ...options.window }
  const attributeReader = createAttributeReader(getAttributes, factsKept)
  const eventIndex = createEventIndex<F>(prefix)
  const ownWrites = createOwnWrites<F>()
  const watches = new Set<CacheWatch>()
  const counts: CacheCounts = { events: 0, starts: 0, fetched: 0 }
  /** Reads from before this fail, although the window may still have the events since. */
  let compactedTo: Revision = 0
  let isRetired = false
  let isClosed = false
  /** How many reflectors have been started. */
  let epoch = 0

  let reflector: Reflector<F> | undefined
  /** Resolves when the reflector runs, or has failed, or is taking too long. */
  let starting: Promise<Reflector<F> | undefined> | undefined
  /** The number of consecutive failures or short runs, and the time before which there is no new attempt. */
  let failures = 0
  let notBefore = 0
  let startedAt = 0

  /** The reflector, started on first use; undefined if the store must be read instead. */
  function ready(): Promise<Reflector<F> | undefined> {
    if (reflector) return Promise.resolve(reflector)
    if (isRetired || (!starting && performance.now() < notBefore)) return Promise.resolve(undefined)
    starting ??= within(waitTimeout, start())
    return starting
  }

  async function start(): Promise<Reflector<F> | undefined> {
    try {
      const limits = { window, pageSize, waitTimeout, progressEvery }
      const parts = { attributeReader, eventIndex, ownWrites }
      const started = await startReflector(store, prefix, parts, { ...limits, counts }, () => {
        reflector = undefined
        ownWrites.clear()
        if (performance.now() - startedAt > retryAfter * MAX_BACK_OFF) failures = 0
        backOff()
      })
      if (isRetired) started.stop()
      if (isRetired || started.ended) return undefined
      reflector = started
      ownWrites.reached(started.window.revision)
      counts.starts++
      epoch++
      startedAt = performance.now()
      for (const watch of watches) watch.reflectorStarted()
      return reflector
    } catch {
      ownWrites.clear()
      backOff()
      return undefined
    } finally {
      starting = undefined
    }
  }

  /** Passes on the result of a write, and keeps what was written until its event arrives. */
  async function written(
    key: string,
    value: Uint8Array | undefined,
    write: Promise<WriteResult>,
  ): Promise<WriteResult> {
    const result = await write
    const bytes = value && Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    // A write that was refused says what another process has written.
    const entry = result.done ? bytes && { key, value: bytes, revision: result.revision } : result.current
    const revision = result.done ? result.revision : result.current?.revision
    // What is not loaded yet is loaded with this write.
    if (revision === undefined || store.embedded || !(reflector || starting)) return result
    if (reflector && revision <= reflector.window.revision) return result
    ownWrites.note(key, revision, entry && attributeReader.entry(entry))
    return result
  }

  function backOff(): void {
    notBefore = performance.now() + retryAfter * Math.min(2 ** failures++, MAX_BACK_OFF)
  }

  /** Reads from memory if it has the requested state, otherwise from the store. */
  async function read<T>(
    at: ReadAt,
    fromMemory: (state: ResidentState<F>, revision: Revision, changed: ChangedEntries<F>) => T,
    fromStore: () => Promise<T>,
  ): Promise<T> {
    if (store.embedded) return fromStore()
    const running = await ready()
    if (!running?.state) return fromStore()
    const { state, window: seen, freshness } = running
    if (at === 'any') return fromMemory(state, seen.revision, NOTHING_CHANGED)
    if (at === 'latest' || 'notOlderThan' in at) {
      const fresh = await (at === 'latest' ? freshness.latest() : freshness.reach(at.notOlderThan))
      return fresh ? fromMemory(state, seen.revision, NOTHING_CHANGED) : fromStore()
    }
    const changed = at.exactly >= state.changed ? NOTHING_CHANGED : changedSince(seen, at.exactly)
    return changed && at.exactly <= seen.revision && at.exactly >= compactedTo
      ? fromMemory(state, at.exactly, changed)
      : fromStore()
  }

  /** The events of the window under a prefix since a mark. */
  function changesIn({ window: seen }: Reflector<F>, of: string, since: CacheMark): CacheChanges<F> | undefined {
    const { revision } = since
    if (since.epoch !== epoch || revision < seen.forgotten || revision > seen.revision) return undefined
    const { events, isLast } = seen.read(revision, MAX_CHANGES)
    const mark = { revision: seen.revision, epoch }
    return isLast ? { mark, events: events.filter(({ key }) => key.startsWith(of)) } : undefined
  }

  /** Known at once: either nothing was written under the prefix, or the window has all that was. */
  function changesNow(of: string, since: CacheMark, at: ReadAt): CacheChanges<F> | undefined {
    const revision = store.revisionNow!()
    const changed = store.lastChange?.(of)
    if (changed === undefined || (typeof at === 'object' && !('notOlderThan' in at && at.notOlderThan <= revision))) {
      return undefined
    }
    if (changed <= since.revision) return { mark: { revision, epoch }, events: [] }
    if (!reflector) void ready() // for the next time
    return reflector?.freshness.latestNow() ? changesIn(reflector, of, since) : undefined
  }

  async function changesSoon(of: string, since: CacheMark, at: ReadAt): Promise<CacheChanges<F> | undefined> {
    const running = await ready()
    if (!running?.state || (typeof at === 'object' && 'exactly' in at)) return undefined
    const { freshness } = running
    const isFresh = at === 'any' || (await (at === 'latest' ? freshness.latest() : freshness.reach(at.notOlderThan)))
    return isFresh && running === reflector ? changesIn(running, of, since) : undefined
  }

  function checkOpen(): void {
    if (isClosed) throw closed()
  }

  function checkRangeHere(of: string, rangeOptions: RangeOptions): void {
    checkOpen()
    checkRange(of, rangeOptions)
    if (!of.startsWith(prefix)) throw elsewhere('invalid-prefix', of, prefix)
  }

  function retire(): void {
    isRetired = true
    for (const watch of watches) watch.end(closed())
    reflector?.stop()
    reflector = undefined
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
        // The store validates the key.
        const entry = store.getNow!(key, at)
        if (!key.startsWith(prefix)) throw elsewhere('invalid-key', key, prefix)
        return entry && attributeReader.entry(entry)
      },
    }),

    getKnown(key) {
      if (store.embedded || isClosed || store.isUnreadable?.(key)) return undefined
      if (!reflector) void ready() // for the next time
      const own = ownWrites.find(key)
      return own ? own.entry : reflector?.state?.get(key)
    },

    ...(store.lastChange && { lastChange: (of: string) => store.lastChange!(of) }),

    ...(store.revisionNow && {
      revisionNow() {
        checkOpen()
        return store.revisionNow!()
      },
    }),

    async revision() {
      checkOpen()
      return store.revision(prefix)
    },

    async get(key, at = 'latest') {
      checkKeyHere(key)
      checkReadAt(at)
      const fromStore = async (): Promise<CachedEntry<F> | undefined> => {
        const entry = await store.get(key, at)
        return entry && attributeReader.entry(entry)
      }
      if (store.isUnreadable?.(key)) return fromStore()
      return read(at, (state, _revision, changed) => (changed.has(key) ? changed.get(key) : state.get(key)), fromStore)
    },

    async range(of, rangeOptions = {}) {
      checkRangeHere(of, rangeOptions)
      const { at = 'latest', terms } = rangeOptions
      const isCompacted = typeof at === 'object' && 'exactly' in at && at.exactly < compactedTo
      if (terms && terms.length > 0 && !isCompacted) {
        const running = await ready()
        const query = { store, attributeReader, prefix: of, options: rangeOptions, terms }
        const page = running && (await readIndexedPage({ ...query, reflector: running }, waitTimeout))
        if (page) {
          counts.fetched += page.entries.length
          return page
        }
      }
      const found = await read<CachedPage<F>>(
        at,
        (state, revision, changed) => ({ revision, ...state.page(of, rangeOptions, changed) }),
        async () => {
          const page = await store.range(of, rangeOptions)
          return { ...page, entries: page.entries.map(attributeReader.entry) }
        },
      )
      counts.fetched += found.entries.length
      return found
    },

    rangeNow(of, rangeOptions) {
      checkRangeHere(of, rangeOptions)
      const { terms = [] } = rangeOptions
      if (!reflector || terms.length === 0) return undefined
      const query = { store, attributeReader, reflector, prefix: of, options: rangeOptions, terms }
      const page = readIndexedPageNow(query)
      if (page) counts.fetched += page.entries.length
      return page
    },

    mark: revision => ({ revision, epoch }),

    changesSince(of, since, at) {
      checkOpen()
      return store.revisionNow ? changesNow(of, since, at) : changesSoon(of, since, at)
    },

    async create(key, value, guard) {
      checkKeyHere(key)
      return written(key, value, store.create(key, value, guard))
    },

    async update(key, value, expected, guard) {
      checkKeyHere(key)
      return written(key, value, store.update(key, value, expected, guard))
    },

    async delete(key, expected) {
      checkKeyHere(key)
      return written(key, undefined, store.delete(key, expected))
    },

    watch(target, after, sink, term) {
      if (isRetired) throw closed()
      checkTarget(target)
      checkRevision(after)
      if (term) checkPrefix(target)
      if (!target.startsWith(prefix)) throw elsewhere('invalid-prefix', target, prefix)
      const stopListening = term && eventIndex.listen(target, term)
      const source = { store, attributeReader, reflector: () => reflector, ready }
      const watch = startCacheWatch(source, { target, term, after }, sink, finished => {
        watches.delete(finished)
        stopListening?.()
      })
      watches.add(watch)
      return watch
    },

    ...(store.isUnreadable && { isUnreadable: (key: string) => store.isUnreadable!(key) }),
    ...(store.isStale && { isStale: (key: string) => store.isStale!(key) }),

    async compact(revision) {
      checkOpen()
      await store.compact(revision)
      compactedTo = Math.max(compactedTo, revision)
    },

    async check() {
      checkOpen()
      return store.check()
    },

    retire,
    counts,
    get seen() {
      return reflector && { revision: reflector.window.revision, capacity: window.events }
    },

    async close() {
      isClosed = true
      retire()
    },
  }
}

// Without `getAttributes`, F is undefined.
const NO_ATTRIBUTES = { indexedFields: {}, labels: {}, data: undefined } as EntryAttributes<never>
const noAttributes = () => NO_ATTRIBUTES

const elsewhere = (code: 'invalid-key' | 'invalid-prefix', path: string, prefix: string): StorageError =>
  new StorageError(
    code,
    `${JSON.stringify(path)} is not in ${JSON.stringify(prefix)}, which is all that is cached here`,
  )
