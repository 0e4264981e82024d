// One watch on a cache, from where it starts to where it is live. What the window of recent events holds comes from
// the window. A watch that starts before the window reads the store's own history through a watch of its own, until it
// has come far enough to go on in the window; then that extra watch is closed.
import { StorageError } from '../storage-error.js'
import type { Revision, Store, Watch, WatchSink } from '../store.js'
import type { AttributeReader, CachedEvent } from './entry-attributes.js'
import { addressOf, hasTerm, type Term } from './event-index.js'
import type { Feed } from './reflector.js'

export interface CacheWatch extends Watch {
  /** There is a feed again: a watch that reads the store's history may be able to go over to it. */
  feedStarted(): void
  end(error: StorageError): void
}

/** What a watch needs of its cache. */
export interface WatchSource<F> {
  readonly store: Store
  readonly describer: AttributeReader<F>
  /** The feed that runs now. */
  feed(): Feed<F> | undefined
  /** The same, started when there is none; undefined when that does not work out. */
  ready(): Promise<Feed<F> | undefined>
}

/** How long to wait after it could not be found out what the latest revision is. */
const PROGRESS_RETRY_MS = 1_000

/** `onDone` is called once, when the watch was closed or has ended. */
export function startCacheWatch<F>(
  source: WatchSource<F>,
  { target, term, after }: { target: string; term: Term | undefined; after: Revision },
  sink: WatchSink<CachedEvent<F>>,
  onDone: (watch: CacheWatch) => void,
): CacheWatch {
  const address = addressOf(target, term)
  /** Everything up to here that the watch wants was delivered. */
  let position = after
  let paused = false
  let done = false
  let progressWanted = false
  let retry: NodeJS.Timeout | undefined
  /** What delivers at present: a watcher of the window or a watch of the store; nothing while neither can. */
  let inner: Watch | undefined
  /** The feed whose window `inner` reads; undefined when it reads the store. */
  let joined: Feed<F> | undefined

  /** Goes on from `position`, wherever that can be read. */
  function goOn(): void {
    inner = undefined
    joined = undefined
    if (done) return
    const feed = source.feed()
    if (!feed) {
      void source.ready().then(started => (started ? goOn() : readStore()))
    } else if (position > feed.window.happened) {
      void feed.freshness.happened(position).then(happened => (happened ? goOn() : readStore()))
    } else if (position < feed.window.forgotten) readStore()
    else readWindow(feed)
  }

  function readWindow(feed: Feed<F>): void {
    joined = feed
    inner = feed.watchers.watch(address, position, fromWindow)
    if (progressWanted) void askWindowForProgress()
  }

  const fromWindow: WatchSink<CachedEvent<F>> = {
    event(event) {
      position = event.revision
      if (sink.event(event) !== false) return true
      paused = true
      return false
    },
    progress(revision) {
      position = revision
      progressWanted = false
      sink.progress?.(revision)
    },
    end(error) {
      // The window moved on while a watcher that takes what it gets was still reading it: no fault of its own.
      if (error.code === 'slow-watcher' && !paused) goOn()
      else end(error)
    },
  }

  async function askWindowForProgress(): Promise<void> {
    const watcher = inner
    const fresh = await joined?.freshness.latest()
    if (done || inner !== watcher) return
    if (fresh) watcher?.requestProgress()
    else {
      clearTimeout(retry)
      retry = setTimeout(() => inner === watcher && !done && void askWindowForProgress(), PROGRESS_RETRY_MS).unref()
    }
  }

  function readStore(): void {
    if (done) return
    try {
      inner = source.store.watch(target, position, fromStore)
    } catch (error) {
      end(error instanceof StorageError ? error : new StorageError('unavailable', String(error), undefined, error))
      return
    }
    inner.requestProgress()
  }

  const fromStore: WatchSink = {
    event(stored) {
      // Before the event and not after it, so that never half of a revision is left behind.
      if (stored.revision > position && windowHolds(stored.revision - 1)) return goOver(stored.revision - 1)
      position = stored.revision
      const event = source.describer.event(stored)
      if (term && !hasTerm(event, term)) return true
      if (sink.event(event) !== false) return true
      paused = true
      return false
    },
    progress(revision) {
      position = revision
      if (windowHolds(revision)) {
        goOver(revision)
        return
      }
      if (progressWanted) {
        progressWanted = false
        sink.progress?.(revision)
      }
      // Events that are not for this watch have moved the window on: ask again how far the store is.
      if (source.feed()) inner?.requestProgress()
      else void source.ready()
    },
    end,
  }

  function windowHolds(revision: Revision): boolean {
    const feed = source.feed()
    return feed !== undefined && revision >= feed.window.forgotten
  }

  function goOver(to: Revision): void {
    inner?.close()
    position = to
    source.feed()?.window.noteHappened(to)
    goOn()
  }

  function end(error: StorageError): void {
    if (done) return
    finish()
    try {
      sink.end(error)
    } catch {
      // It is over for this watch either way, and others are not to suffer from it.
    }
  }

  function finish(): void {
    done = true
    clearTimeout(retry)
    inner?.close()
    onDone(watch)
  }

  const watch: CacheWatch = {
    resume() {
      if (!paused) return
      paused = false
      inner?.resume()
    },
    requestProgress() {
      progressWanted = true
      if (joined) void askWindowForProgress()
      else inner?.requestProgress()
    },
    close() {
      if (!done) finish()
    },
    feedStarted() {
      if (!joined) inner?.requestProgress()
    },
    end,
  }

  goOn()
  return watch
}
