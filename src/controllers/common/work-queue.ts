// A queue of keys, as client-go's workqueue: a key that is added twice is worked on once, a few keys at a time, and a key
// whose work failed is tried again later. A delay that a controller asks for passes by the server's clock; one before
// another try by the system's, because what has failed gets well by itself, also while a test has stopped the server's clock.
import { SYSTEM_CLOCK, type TimerClock } from '../../base/clock.js'

export interface WorkQueue {
  add(key: string): void
  /** Adds it after a delay by the server's clock. Of several delays of a key, each adds it. */
  addLater(key: string, ms: number): void
  /** The same by the system's clock, for what comes with other writes and not with the time of the server. */
  retryLater(key: string, ms: number): void
  /** Resolves when no key waits or is worked on. Keys that are added later do not count. */
  idle(): Promise<void>
  stop(): void
  /** Since when each key is worked on that is. */
  running(): Iterable<number>
}

export interface QueueHooks {
  /** Milliseconds until the key is tried again. `failures` counts the failures in a row, this one included. */
  retryAfter(key: string, error: unknown, failures: number): number
  onAdd?(depth: number): void
  onStart?(depth: number, waitedMs: number): void
  onDone?(tookMs: number): void
}

export const MAX_CONCURRENT = 16

/** `work` rejects when it is to be tried again. A key that is added while it is worked on is worked on once more. */
export function createWorkQueue(
  work: (key: string) => Promise<void>,
  hooks: QueueHooks,
  concurrency = MAX_CONCURRENT,
  clock: TimerClock = SYSTEM_CLOCK,
): WorkQueue {
  /** Keys in the order of their adding, with the time of it. */
  const waiting = new Map<string, number>()
  const active = new Map<string, number>()
  const failures = new Map<string, number>()
  /** Cancel the timers that run. */
  const timers = new Set<() => void>()
  let whenIdle: (() => void)[] = []
  let stopped = false
  let isPlanned = false

  function add(key: string): void {
    if (stopped || waiting.has(key)) return
    waiting.set(key, performance.now())
    hooks.onAdd?.(waiting.size)
    pumpSoon()
  }

  function addAfter(key: string, ms: number, by: TimerClock): void {
    if (stopped) return
    const cancel = by.after(ms, () => {
      timers.delete(cancel)
      add(key)
    })
    timers.add(cancel)
  }

  /**
   * In the next turn of the event loop, never synchronously: work that is answered from memory and adds more work would
   * otherwise keep the event loop from everything else.
   */
  function pumpSoon(): void {
    if (isPlanned) return
    isPlanned = true
    setImmediate(pump)
  }

  function pump(): void {
    isPlanned = false
    for (const [key, addedAt] of waiting) {
      if (active.size >= concurrency || stopped) return
      if (active.has(key)) continue
      waiting.delete(key)
      active.set(key, performance.now())
      hooks.onStart?.(waiting.size, performance.now() - addedAt)
      void run(key)
    }
    if (waiting.size === 0 && active.size === 0) {
      for (const resolve of whenIdle) resolve()
      whenIdle = []
    }
  }

  async function run(key: string): Promise<void> {
    const began = performance.now()
    try {
      await work(key)
      failures.delete(key)
    } catch (error) {
      const count = (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      // An error after the stop is mostly that the store is closed.
      if (!stopped) addAfter(key, hooks.retryAfter(key, error, count), SYSTEM_CLOCK)
    }
    hooks.onDone?.(performance.now() - began)
    active.delete(key)
    pumpSoon()
  }

  return {
    add,
    running: () => active.values(),
    addLater: (key, ms) => addAfter(key, ms, clock),
    retryLater: (key, ms) => addAfter(key, ms, SYSTEM_CLOCK),
    idle: () =>
      new Promise(resolve => {
        whenIdle.push(resolve)
        pumpSoon()
      }),
    stop() {
      stopped = true
      waiting.clear()
      for (const cancel of timers) cancel()
      for (const resolve of whenIdle) resolve()
    },
  }
}
