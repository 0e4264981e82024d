// Knowing all the time what is in a folder of the store: everything that is there, then everything that happens to it,
// and all over again when that was interrupted.
import { setImmediate as turn } from 'node:timers/promises'
import { FIRST_LIMIT, limitAfter } from '../storage/page-limit.js'
import type { Entry, Page, RangeOptions, Revision, StoreEvent, Watch, WatchSink } from '../storage/store.js'

/** What is followed: a store, or a cache of a part of one. */
export interface InformerSource<En extends Entry, Ev extends StoreEvent> {
  range(prefix: string, options?: RangeOptions): Promise<Page & { readonly entries: readonly En[] }>
  watch(target: string, after: Revision, sink: WatchSink<Ev>): Watch
}

export interface InformerHandler<En extends Entry, Ev extends StoreEvent> {
  /** What was told before is no longer certain: everything is told anew. */
  begin?(): void
  /** Something that is there. */
  entry(entry: En): void
  /** Everything that is there has been told. */
  complete?(): void
  event(event: Ev): void
}

export interface Informer {
  /** Settles when everything that was there has been told for the first time; rejects when it could not be read. */
  readonly started: Promise<void>
  stop(): void
}

const PAGE_LIMITS = { entries: 500, bytes: 1024 * 1024 }
const RETRY_MS = 200

export function startInformer<En extends Entry, Ev extends StoreEvent>(
  store: InformerSource<En, Ev>,
  prefix: string,
  follower: InformerHandler<En, Ev>,
): Informer {
  let watch: Watch | undefined
  let stopped = false

  async function start(): Promise<void> {
    follower.begin?.()
    let page = await store.range(prefix, { limit: FIRST_LIMIT })
    const { revision } = page
    for (;;) {
      if (stopped) return
      for (const entry of page.entries) follower.entry(entry)
      const last = page.entries.at(-1)
      if (!last || page.remaining === 0) break
      const limit = limitAfter(page.entries, PAGE_LIMITS)
      // There may be much to read, and others who have requests.
      await turn()
      page = await store.range(prefix, { limit, startAfter: last.key, at: { exactly: revision } })
    }
    follower.complete?.()
    watch = store.watch(prefix, revision, { event: event => follower.event(event), end: again })
  }

  function again(): void {
    if (!stopped) setTimeout(restart, RETRY_MS).unref()
  }

  function restart(): void {
    start().catch(again)
  }

  const started = start()
  started.catch(again)
  return {
    started,
    stop() {
      stopped = true
      watch?.close()
    },
  }
}
