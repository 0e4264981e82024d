// One upstream watch and all that lives as long as it does: the window of recent events, the watchers that read it,
// for far stores the state, and the knowledge of how fresh all this is. When the upstream watch ends the feed is over;
// the cache starts another one from a fresh load.

import { createWatchers, type Watchers } from '../common/watchers.js'
import { closed, StorageError } from '../storage-error.js'
import type { Watch } from '../store.js'
import type { AttributeReader, CachedEvent } from './entry-attributes.js'
import type { Addresses } from './event-index.js'
import { createEventWindow, type EventWindow, slowWatcher, type WindowLimits } from './event-window.js'
import { createFreshness, type FeedingStore, type Freshness, type FreshnessOptions } from './freshness.js'
import { detached, loadResidentState, type ResidentState } from './resident-state.js'

export interface Feed<F> {
  readonly window: EventWindow<CachedEvent<F>>
  readonly watchers: Watchers<CachedEvent<F>>
  readonly freshness: Freshness
  /** Only where reads of the store itself are far away. */
  readonly state: ResidentState<F> | undefined
  /** The upstream watch has ended. */
  readonly ended: boolean
  stop(): void
}

export interface FeedOptions extends FreshnessOptions {
  readonly window: WindowLimits
  /** How many entries to load at once. */
  readonly pageSize: number
}

export async function startFeed<F>(
  store: FeedingStore,
  prefix: string,
  describer: AttributeReader<F>,
  addresses: Addresses<F>,
  options: FeedOptions,
  onEnd: () => void,
): Promise<Feed<F>> {
  const state = store.embedded ? undefined : await loadResidentState(store, prefix, options.pageSize, describer)
  const start = state ? state.changed : await store.revision()
  const window = createEventWindow<CachedEvent<F>>(start, options.window)
  const watchers = createWatchers<CachedEvent<F>>(window, addresses)

  let ended = false

  const upstream: Watch = store.watch(prefix, start, {
    event(stored) {
      const event = state ? describer.event(detached(stored), state.get(stored.key)) : describer.event(stored)
      state?.apply(event)
      const trimmed = window.append(event)
      // At once and not when they resume: what nobody can use any more must not stay in memory.
      if (trimmed) watchers.dropBehind(window.forgotten, after => slowWatcher(after, window.forgotten))
      watchers.publish([event])
      freshness.moved()
    },
    progress(revision) {
      window.advance(revision)
      freshness.moved()
    },
    end(error) {
      ended = true
      freshness.stop()
      onEnd()
      watchers.endAll(error.code === 'closed' ? closed() : rebuilt(prefix, error))
    },
  })

  const freshness = createFreshness(store, window, () => upstream.requestProgress(), options)

  return {
    window,
    watchers,
    freshness,
    state,
    get ended() {
      return ended
    },
    stop() {
      upstream.close()
      freshness.stop()
    },
  }
}

/** Nobody knows what happened until the fresh load, so that whoever watched must look at everything anew as well. */
const rebuilt = (prefix: string, cause: StorageError): StorageError =>
  new StorageError(
    'compacted',
    `the watch of ${prefix} was interrupted (${cause.message}): list again`,
    undefined,
    cause,
  )
