// A watch for tests: it records its events and lets a test wait for them.
import type { StorageError } from './storage-error.js'
import type { Revision, Store, StoreEvent, Watch } from './store.js'

export interface WatchRecorder<E extends StoreEvent = StoreEvent> {
  readonly watch: Watch
  readonly events: readonly E[]
  readonly progress: readonly Revision[]
  readonly ended: StorageError | undefined
  /** While true, the sink returns `false` for every event: one is delivered, then it waits for `resume`. */
  pausing: boolean
  /** Waits until this many events were received in total. */
  count(events: number): Promise<readonly E[]>
  progressTo(revision: Revision): Promise<void>
  end(): Promise<StorageError>
}

/** Events in short form: `create /a=1 @5`, `update /a=2 (was 1 @5) @6`, `delete /a (was 2 @6) @7`. */
export function brief(events: readonly StoreEvent[]): string[] {
  return events.map(({ key, value, previous, revision }) => {
    const verb = value === undefined ? 'delete' : previous ? 'update' : 'create'
    const was = previous ? ` (was ${previous.value.toString()} @${previous.revision})` : ''
    return `${verb} ${key}${value === undefined ? '' : `=${value.toString()}`}${was} @${revision}`
  })
}

export function recordWatch(store: Store, target: string, after: Revision): WatchRecorder {
  const events: StoreEvent[] = []
  const progress: Revision[] = []
  let ended: StorageError | undefined
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const check of waiting) check()
  }
  const until = <T>(what: string, ready: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () =>
          reject(
            new Error(`waited 10 s for ${what}; got ${JSON.stringify({ events: brief(events), progress, ended })}`),
          ),
        10_000,
      )
      const check = () => {
        const found = ready()
        if (found === undefined) return
        clearTimeout(timer)
        waiting.delete(check)
        resolve(found)
      }
      waiting.add(check)
      check()
    })

  const recorder: WatchRecorder = {
    pausing: false,
    events,
    progress,
    get ended() {
      return ended
    },
    watch: store.watch(target, after, {
      event(event) {
        events.push(event)
        wake()
        return !recorder.pausing
      },
      progress(revision) {
        progress.push(revision)
        wake()
      },
      end(error) {
        ended = error
        wake()
      },
    }),
    count: wanted => until(`${wanted} events`, () => (events.length >= wanted ? events : undefined)),
    progressTo: async revision => {
      await until(`progress to ${revision}`, () => ((progress.at(-1) ?? -1) >= revision ? true : undefined))
    },
    end: () => until('the end', () => ended),
  }
  return recorder
}
