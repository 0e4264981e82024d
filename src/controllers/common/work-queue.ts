// Work by name: what is asked for twice is done once, a few at a time, and again later when it failed.

export interface WorkQueue {
  add(name: string): void
  /** Adds it when some time has passed. */
  addLater(name: string, ms: number): void
  /** Settles when nothing is waiting or under way; what was put off does not count. */
  idle(): Promise<void>
  stop(): void
}

const FIRST_RETRY_MS = 20
const LAST_RETRY_MS = 10_000

/** `work` rejects when it is to be tried again. What is added while it is being worked on is worked on once more. */
export function createWorkQueue(work: (name: string) => Promise<void>, atOnce = 16): WorkQueue {
  const waiting = new Set<string>()
  const active = new Set<string>()
  const failures = new Map<string, number>()
  const timers = new Set<NodeJS.Timeout>()
  let whenIdle: (() => void)[] = []
  let stopped = false
  let isPlanned = false

  function add(name: string): void {
    if (stopped) return
    waiting.add(name)
    pumpSoon()
  }

  function addLater(name: string, ms: number): void {
    if (stopped) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      add(name)
    }, ms)
    timer.unref()
    timers.add(timer)
  }

  /**
   * In the next turn of the event loop, never at once: work that is answered from memory and brings more work would
   * otherwise go on without end before anybody else is heard.
   */
  function pumpSoon(): void {
    if (isPlanned) return
    isPlanned = true
    setImmediate(pump)
  }

  function pump(): void {
    isPlanned = false
    for (const name of waiting) {
      if (active.size >= atOnce || stopped) return
      if (active.has(name)) continue
      waiting.delete(name)
      active.add(name)
      void run(name)
    }
    if (waiting.size === 0 && active.size === 0) {
      for (const resolve of whenIdle) resolve()
      whenIdle = []
    }
  }

  async function run(name: string): Promise<void> {
    try {
      await work(name)
      failures.delete(name)
    } catch {
      const count = failures.get(name) ?? 0
      failures.set(name, count + 1)
      addLater(name, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** count))
    }
    active.delete(name)
    pumpSoon()
  }

  return {
    add,
    addLater,
    idle: () =>
      new Promise(resolve => {
        whenIdle.push(resolve)
        pumpSoon()
      }),
    stop() {
      stopped = true
      waiting.clear()
      for (const timer of timers) clearTimeout(timer)
      for (const resolve of whenIdle) resolve()
    },
  }
}
