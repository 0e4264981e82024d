// A memory store for tests that behaves like a remote one: its watches can be held, progress requests can stay
// unanswered, watches can break, and calls can fail. It counts the calls.
import { createMemoryStore } from '../memory/memory-store.js'
import { StorageError } from '../storage-error.js'
import type { Revision, Store, StoreEvent, Watch } from '../store.js'

export interface GatedStore extends Store {
  /** While set, watches deliver neither events nor progress; missed events are delivered when it is unset. */
  held: boolean
  /** While set, progress requests are not answered. */
  progressLost: boolean
  /** While set, everything but watches fails with `unavailable`. */
  failing: boolean
  promptProgress: boolean
  readonly calls: { revision: number; get: number; range: number; watch: number; progress: number }
  /** The number of open watches. */
  readonly watches: number
  /** Ends the watch that was opened first: the cache's own, not one for a watcher that starts in the past. */
  breakOldestWatch(error: StorageError): void
}

export function createGatedStore(options: { embedded?: boolean } = {}): GatedStore {
  const store = createMemoryStore()
  const calls = { revision: 0, get: 0, range: 0, watch: 0, progress: 0 }
  const open = new Set<{ inner: Watch; release(): void; end(error: StorageError): void }>()
  let held = false

  const counted = <T>(call: keyof typeof calls, action: () => Promise<T>): Promise<T> => {
    calls[call]++
    return self.failing ? Promise.reject(new StorageError('unavailable', 'the store does not answer')) : action()
  }

  const { getNow: _, revisionNow: __, lastChange: ___, ...others } = store
  const self: GatedStore = {
    ...others,
    embedded: options.embedded ?? false,
    calls,
    progressLost: false,
    failing: false,
    promptProgress: true,
    get watches() {
      return open.size
    },
    get held() {
      return held
    },
    set held(hold) {
      held = hold
      if (!hold) for (const { release } of open) release()
    },
    breakOldestWatch(error) {
      const [watch] = open
      if (!watch) return
      open.delete(watch)
      watch.inner.close()
      watch.end(error)
    },

    revision: () => counted('revision', () => store.revision()),
    get: (key, at) => counted('get', () => store.get(key, at)),
    range: (prefix, range) => counted('range', () => store.range(prefix, range)),

    watch(target, after, sink) {
      calls.watch++
      let heldProgress: Revision | undefined
      let heldEvent: StoreEvent | undefined
      const inner = store.watch(target, after, {
        event(event) {
          if (!held) return sink.event(event)
          heldEvent = event
          return false
        },
        progress(revision) {
          if (held) heldProgress = revision
          else sink.progress?.(revision)
        },
        end(error) {
          open.delete(watch)
          sink.end(error)
        },
      })
      const watch = {
        inner,
        release() {
          if (heldProgress !== undefined) sink.progress?.(heldProgress)
          heldProgress = undefined
          if (!heldEvent || !open.has(watch)) return
          const event = heldEvent
          heldEvent = undefined
          if (sink.event(event) !== false) inner.resume()
        },
        end: sink.end.bind(sink),
      }
      open.add(watch)
      return {
        resume() {
          if (!heldEvent) inner.resume()
        },
        requestProgress(reached) {
          calls.progress++
          if (!self.progressLost) inner.requestProgress(reached)
        },
        close() {
          open.delete(watch)
          inner.close()
        },
      }
    },
  }
  return self
}
