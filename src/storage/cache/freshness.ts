// How a cache that is fed by a watch knows that it is fresh enough: the store tells its revision, and progress on the
// watch tells that everything up to there has arrived. The answer is "yes" or "not that I know": never an error, never
// a long wait. On "not that I know" it is the store itself that has to answer.
import type { Revision, Store, StoreEvent } from '../store.js'
import type { EventWindow } from './event-window.js'

export interface Freshness {
  /** Whether the store has come to a revision. */
  happened(revision: Revision): Promise<boolean>
  /** Waits until everything up to a revision has arrived; false when that revision is in the future or late. */
  reach(revision: Revision): Promise<boolean>
  /** Waits until every write has arrived that was acknowledged before this call. */
  latest(): Promise<boolean>
  /** To be called when the feed's revision has moved. */
  moved(): void
  stop(): void
}

/** A store may say that its watches do not answer a request for progress at once, such as an etcd of old. */
export interface FeedingStore extends Store {
  readonly promptProgress?: boolean
}

export interface FreshnessOptions {
  /** How long to wait for the feed, in milliseconds. */
  readonly patience: number
  /** How often to ask for progress meanwhile, in milliseconds. */
  readonly progressEvery: number
}

export function createFreshness(
  store: FeedingStore,
  window: Pick<EventWindow<StoreEvent>, 'revision' | 'happened' | 'noteHappened'>,
  requestProgress: () => void,
  { patience, progressEvery }: FreshnessOptions,
): Freshness {
  /** Those who wait for the same revision share one promise. */
  const waiting = new Map<Revision, Waiting>()
  let timer: NodeJS.Timeout | undefined
  /** A feed that let someone wait in vain is not waited for again before it moves. */
  let stuckAt: Revision | undefined
  let requestedAt = 0
  let stopped = false

  function wait(revision: Revision): Promise<boolean> {
    if (window.revision >= revision) return YES
    if (stopped || store.promptProgress === false) return NO
    if (window.revision === stuckAt) {
      if (performance.now() - requestedAt >= progressEvery) askForProgress()
      return NO
    }
    const others = waiting.get(revision)
    if (others) return others.promise
    const { promise, resolve } = withResolvers<boolean>()
    waiting.set(revision, { promise, resolve, ticksLeft: Math.ceil(patience / progressEvery) })
    timer ??= setInterval(tick, progressEvery)
    askForProgress()
    return promise
  }

  function askForProgress(): void {
    requestedAt = performance.now()
    requestProgress()
  }

  function tick(): void {
    for (const [revision, waiter] of waiting) {
      if (--waiter.ticksLeft > 0) continue
      stuckAt = window.revision
      settle(revision, waiter, false)
    }
    if (waiting.size > 0) askForProgress()
  }

  function settle(revision: Revision, { resolve }: Waiting, reached: boolean): void {
    waiting.delete(revision)
    if (waiting.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    resolve(reached)
  }

  const ask = shareRoundTrips(async () => {
    const revision = await within(patience, store.revision())
    if (revision !== undefined) window.noteHappened(revision)
    return revision
  })

  async function happened(revision: Revision): Promise<boolean> {
    if (revision > window.happened) await ask()
    return revision <= window.happened
  }

  return {
    happened,

    async reach(revision) {
      return (await happened(revision)) && wait(revision)
    },

    async latest() {
      const revision = await ask()
      return revision !== undefined && wait(revision)
    },

    moved() {
      if (waiting.size === 0) return
      for (const [revision, waiter] of waiting) if (revision <= window.revision) settle(revision, waiter, true)
    },

    stop() {
      stopped = true
      for (const [revision, waiter] of waiting) settle(revision, waiter, false)
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

/**
 * One round trip at a time answers everyone who asked before it began. Whoever asks while one is under way gets the
 * next: the one under way may have looked too early for them.
 */
function shareRoundTrips<T>(roundTrip: () => Promise<T>): () => Promise<T> {
  let current: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= current.then(() => {
      const begun = roundTrip()
      current = begun
      next = undefined
      return begun
    })
    return next
  }
}

/** What a promise resolves to; undefined when it fails or takes longer than this. */
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
  const promise = new Promise<T>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
