// One upstream watch and everything with its lifetime: the window of recent events, the watchers that read it, the
// freshness of the window, and for remote stores the entries. When the upstream watch ends, the reflector ends; the
// cache starts a new one from a new load.

import { createWatchers, type Watchers } from '../common/watchers.js'
import { closed, StorageError } from '../storage-error.js'
import type { Watch } from '../store.js'
import { isUntransformable } from '../untransformable.js'
import type { AttributeReader, AttributeSource, CachedEvent } from './entry-attributes.js'
import type { EventIndex } from './event-index.js'
import { createEventWindow, type EventWindow, slowWatcher, type WindowLimits } from './event-window.js'
import { createFreshness, type Freshness, type FreshnessOptions, type UpstreamStore } from './freshness.js'
import { type IndexBuild, type ReadPage, startIndexBuild } from './index-build.js'
import type { OwnWrites } from './own-writes.js'
import { detached, loadResidentState, type ResidentState } from './resident-state.js'

export interface Reflector<F> {
  readonly window: EventWindow<CachedEvent<F>>
  readonly watchers: Watchers<CachedEvent<F>>
  readonly freshness: Freshness
  /** All entries in memory, only for stores that are not embedded. */
  readonly state: ResidentState<F> | undefined
  /** The index of an attribute's values, begun when it is first needed. */
  index(source: AttributeSource): IndexBuild<F>
  /** The upstream watch has ended. */
  readonly ended: boolean
  stop(): void
}

export interface ReflectorOptions extends FreshnessOptions {
  readonly window: WindowLimits
  /** How many entries to load at once. */
  readonly pageSize: number
  /** Counts the events. */
  readonly counts: { events: number }
}

/** What a cache has for all its reflectors, one after the other. */
export interface ReflectorParts<F> {
  readonly attributeReader: AttributeReader<F>
  readonly eventIndex: EventIndex<F>
  readonly ownWrites: OwnWrites<F>
}

export async function startReflector<F>(
  store: UpstreamStore,
  prefix: string,
  { attributeReader, eventIndex, ownWrites }: ReflectorParts<F>,
  options: ReflectorOptions,
  onEnd: () => void,
): Promise<Reflector<F>> {
  const state = store.embedded ? undefined : await loadResidentState(store, prefix, options.pageSize, attributeReader)
  const start = state ? state.changed : await store.revision(prefix)
  const window = createEventWindow<CachedEvent<F>>(start, options.window)
  const watchers = createWatchers<CachedEvent<F>>(window, eventIndex)

  const indexes = new Map<AttributeSource, IndexBuild<F>>()
  let ended = false

  function index(source: AttributeSource): IndexBuild<F> {
    let build = indexes.get(source)
    if (!build) indexes.set(source, (build = startIndexBuild(source, readPage, () => void indexes.delete(source))))
    return build
  }

  async function readPage(startAfter: string | undefined): ReturnType<ReadPage<F>> {
    const limits = { limit: options.pageSize, startAfter, isUncounted: true }
    if (state) return { revision: window.revision, ...state.page(prefix, limits) }
    const page = await store.range(prefix, limits)
    return { ...page, entries: page.entries.map(attributeReader.entry) }
  }

  const stopIndexes = (): void => {
    for (const build of indexes.values()) build.stop()
  }

  const upstream: Watch = store.watch(prefix, start, {
    knowsPrevious: state !== undefined,
    event(stored) {
      if (state && stored.value && isUntransformable(stored.value)) {
        upstream.close()
        return finish(new StorageError('corrupt', `the value of ${stored.key} cannot be decrypted`))
      }
      options.counts.events++
      const event = state
        ? attributeReader.eventAfter(state.get(stored.key), detached(stored))
        : attributeReader.event(stored)
      state?.apply(event)
      ownWrites.arrived(event.key, event.revision)
      for (const build of indexes.values()) build.apply(event)
      const trimmed = window.append(event)
      // Now and not when they resume: events that no watcher can read any more must be released from memory.
      if (trimmed) watchers.dropBehind(window.forgotten, after => slowWatcher(after, window.forgotten))
      watchers.publish([event])
      freshness.moved()
    },
    progress(revision) {
      window.advance(revision)
      freshness.moved()
    },
    end: finish,
  })

  function finish(error: StorageError): void {
    ended = true
    stopIndexes()
    freshness.stop()
    onEnd()
    watchers.endAll(error.code === 'closed' ? closed() : rebuilt(prefix, error))
  }

  const freshness = createFreshness(store, prefix, window, reached => upstream.requestProgress(reached), options)

  return {
    window,
    watchers,
    freshness,
    state,
    index,
    get ended() {
      return ended
    },
    stop() {
      upstream.close()
      stopIndexes()
      freshness.stop()
    },
  }
}

/** Events may be missing between the interruption and the new load, so clients must list again. */
const rebuilt = (prefix: string, cause: StorageError): StorageError =>
  new StorageError(
    'compacted',
    `the watch of ${prefix} was interrupted (${cause.message}): list again`,
    undefined,
    cause,
  )
