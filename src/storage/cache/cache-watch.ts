// One watch on a cache. It reads recent events from the cache's window. A watch that starts before the window reads the
// store's history through its own store watch, until it reaches the window; then that store watch is closed.
import { StorageError } from '../storage-error.js'
import type { Revision, Store, Watch, WatchSink } from '../store.js'
import type { AttributeReader, AttributeTerm, CachedEvent } from './entry-attributes.js'
import { addressOf, concernsTerm } from './event-index.js'
import type { Reflector } from './reflector.js'

export interface CacheWatch extends Watch {
  /** A reflector runs again: a watch that reads the store's history may be able to switch to it. */
  reflectorStarted(): void
  end(error: StorageError): void
}

/** The parts of a cache that a watch uses. */
export interface WatchSource<F> {
  readonly store: Store
  readonly attributeReader: AttributeReader<F>
  /** The running reflector. */
  reflector(): Reflector<F> | undefined
  /** The running reflector, started if there is none; undefined if it cannot be started. */
  ready(): Promise<Reflector<F> | undefined>
}

/** The delay after the latest revision could not be read. */
const PROGRESS_RETRY_MS = 1_000

/** `onDone` is called once, when the watch was closed or has ended. */
export function startCacheWatch<F>(
  source: WatchSource<F>,
  { target, term, after }: { target: string; term: AttributeTerm | undefined; after: Revision },
  sink: WatchSink<CachedEvent<F>>,
  onDone: (watch: CacheWatch) => void,
): CacheWatch {
  const address = addressOf(target, term)
  /** All events up to here that the watch selects were delivered. */
  let position = after
  let paused = false
  let done = false
  let progressWanted = false
  let retry: NodeJS.Timeout | undefined
  /** The current source: a watcher of the window or a watch of the store; undefined while there is none. */
  let inner: Watch | undefined
  /** The reflector whose window `inner` reads; undefined when `inner` reads the store. */
  let joined: Reflector<F> | undefined

  /** Continues from `position`, from the window if it reaches back that far. */
  function continueReading(): void {
    inner = undefined
    joined = undefined
    if (done) return
    const reflector = source.reflector()
    if (!reflector) {
      void source.ready().then(started => (started ? continueReading() : readStore()))
    } else if (position > reflector.window.happened) {
      void reflector.freshness.happened(position).then(happened => (happened ? continueReading() : readStore()))
    } else if (position < reflector.window.forgotten) readStore()
    else readWindow(reflector)
  }

  function readWindow(reflector: Reflector<F>): void {
    joined = reflector
    inner = reflector.watchers.watch(address, position, fromWindow)
    if (progressWanted) void requestWindowProgress()
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
      // The window discarded events while an active watcher was still reading them: continue from the store.
      if (error.code === 'slow-watcher' && !paused) continueReading()
      else end(error)
    },
  }

  async function requestWindowProgress(): Promise<void> {
    const watcher = inner
    const fresh = await joined?.freshness.latest()
    if (done || inner !== watcher) return
    if (fresh) watcher?.requestProgress()
    else {
      clearTimeout(retry)
      retry = setTimeout(() => inner === watcher && !done && void requestWindowProgress(), PROGRESS_RETRY_MS).unref()
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
      // Before the event and not after it, so that a revision is never split between the two sources.
      if (stored.revision > position && windowHolds(stored.revision - 1)) return switchToWindow(stored.revision - 1)
      position = stored.revision
      const event = source.attributeReader.event(stored)
      if (term && !concernsTerm(event, term)) return true
      if (sink.event(event) !== false) return true
      paused = true
      return false
    },
    progress(revision) {
      position = revision
      if (windowHolds(revision)) {
        switchToWindow(revision)
        return
      }
      if (progressWanted) {
        progressWanted = false
        sink.progress?.(revision)
      }
      // Events outside this watch have moved the window on: request the store's progress again.
      if (source.reflector()) inner?.requestProgress()
      else void source.ready()
    },
    end,
  }

  function windowHolds(revision: Revision): boolean {
    const reflector = source.reflector()
    return reflector !== undefined && revision >= reflector.window.forgotten
  }

  function switchToWindow(to: Revision): void {
    inner?.close()
    position = to
    source.reflector()?.window.noteHappened(to)
    continueReading()
  }

  function end(error: StorageError): void {
    if (done) return
    finish()
    try {
      sink.end(error)
    } catch {
      // The watch has ended already. The error must not affect other watches.
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
      if (joined) void requestWindowProgress()
      else inner?.requestProgress()
    },
    close() {
      if (!done) finish()
    },
    reflectorStarted() {
      if (!joined) inner?.requestProgress()
    },
    end,
  }

  continueReading()
  return watch
}
