// Decides whether a cache is fresh enough for a read: the store reports its revision, and progress on the watch reports
// that all events up to it have arrived. The result is yes or unknown, never an error and never after a long wait. On
// unknown, the store itself must be read.
import { shareRoundTrips } from '../common/shared-round-trips.js'
import type { Revision, Store, StoreEvent } from '../store.js'
import type { EventWindow } from './event-window.js'

export interface Freshness {
  /** Whether the store has reached a revision. */
  happened(revision: Revision): Promise<boolean>
  /** Waits until all events up to a revision have arrived; false if that is in the future or takes too long. */
  reach(revision: Revision): Promise<boolean>
  /** Waits until all writes that were acknowledged before this call have arrived. */
  latest(): Promise<boolean>
  /** Whether all acknowledged writes have arrived, where that is known at once. */
  latestNow(): boolean
  /** Must be called when the window's revision has changed. */
  moved(): void
  stop(): void
}

/** `promptProgress: false` means that progress requests are not answered at once, as on old versions of etcd. */
export interface UpstreamStore extends Store {
  readonly promptProgress?: boolean
}

export interface FreshnessOptions {
  /** How long to wait for the watch, in milliseconds. */
  readonly waitTimeout: number
  /** How often to request progress meanwhile, in milliseconds. */
  readonly progressEvery: number
}

export function createFreshness(
  store: UpstreamStore,
  prefix: string,
  window: Pick<EventWindow<StoreEvent>, 'revision' | 'happened' | 'noteHappened' | 'advance'>,
  requestProgress: (reached: Revision) => void,
  { waitTimeout, progressEvery }: FreshnessOptions,
): Freshness {
  /** Waiters for the same revision share one promise. */
  const waiting = new Map<Revision, Waiting>()
  let timer: NodeJS.Timeout | undefined
  /** The revision at which a wait timed out. There is no waiting again until the watch advances. */
  let stuckAt: Revision | undefined
  let requestedAt = 0
  let stopped = false

  function wait(revision: Revision): Promise<boolean> {
    if (window.revision >= revision) return YES
    if (stopped || store.promptProgress === false) return NO
    if (window.revision === stuckAt) {
      if (performance.now() - requestedAt >= progressEvery) sendProgressRequest(revision)
      return NO
    }
    const pending = waiting.get(revision)
    if (pending) return pending.promise
    const { promise, resolve } = withResolvers<boolean>()
    waiting.set(revision, { promise, resolve, ticksLeft: Math.ceil(waitTimeout / progressEvery) })
    timer ??= setInterval(tick, progressEvery)
    sendProgressRequest(revision)
    return promise
  }

  function sendProgressRequest(revision: Revision): void {
    requestedAt = performance.now()
    requestProgress(revision)
  }

  function tick(): void {
    for (const [revision, waiter] of waiting) {
      if (--waiter.ticksLeft > 0) continue
      stuckAt = window.revision
      resolveWaiter(revision, waiter, false)
    }
    if (waiting.size > 0) sendProgressRequest(Math.max(...waiting.keys()))
  }

  function resolveWaiter(revision: Revision, { resolve }: Waiting, reached: boolean): void {
    waiting.delete(revision)
    if (waiting.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    resolve(reached)
  }

  const readRevision = shareRoundTrips(async () => {
    const before = window.happened
    const revision = await within(waitTimeout, store.revision(prefix))
    // The store was restored from a backup: what is in memory may not be in it.
    if (revision !== undefined && revision < before) return undefined
    if (revision !== undefined) window.noteHappened(revision)
    return revision
  })

  async function happened(revision: Revision): Promise<boolean> {
    if (revision > window.happened) await readRevision()
    return revision <= window.happened
  }

  /** If nothing under the prefix was written since the last event, the window has reached the revision of the store. */
  function latestNow(): boolean {
    const changed = store.lastChange?.(prefix)
    if (!store.revisionNow || changed === undefined || changed > window.revision) return false
    window.advance(store.revisionNow())
    moved()
    return true
  }

  function moved(): void {
    if (waiting.size === 0) return
    for (const [revision, waiter] of waiting) if (revision <= window.revision) resolveWaiter(revision, waiter, true)
  }

  return {
    happened,
    latestNow,

    async reach(revision) {
      return (await happened(revision)) && wait(revision)
    },

    async latest() {
      if (latestNow()) return true
      const revision = await readRevision()
      return revision !== undefined && wait(revision)
    },

    moved,

    stop() {
      stopped = true
      for (const [revision, waiter] of waiting) resolveWaiter(revision, waiter, false)
    },
  }
}

interface Waiting {
  readonly promise: Promise<boolean>
  readonly resolve: (reached: boolean) => void
  ticksLeft: number
}

const YES = Promise.resolve(true)
const NO = Promise.resolve(false)

/** The value of a promise; undefined if it rejects or takes longer than this. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), milliseconds)
  try {
    return await Promise.race([promise, late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** `Promise.withResolvers`, which Node 20 does not have yet. */
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>(resolveWaiter => {
    resolve = resolveWaiter
  })
  return { promise, resolve }
}
