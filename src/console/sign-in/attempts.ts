// The answer to a wrong code or token is sent late: the more of them an address has given, the later. A right one is never
// refused, however many wrong ones came before it from the same address: on one machine all programs share an address, so
// that any of them could keep the user out. Guessing is no easier than at the API, which compares tokens too, and codes are
// too long to be guessed.

export interface Attempts {
  /** Resolves when the answer to a wrong code or token may be sent. */
  failed(address: string): Promise<void>
}

const FIRST_DELAY_MS = 100
const MAX_DELAY_MS = 5_000
/** So many wrong ones are answered at once. */
const AT_ONCE = 3
const FORGOTTEN_MS = 60_000
const MAX_CLIENTS = 1_000
const MAX_WAITING = 100

/** `wait` calls back after a time, and returns what ends the wait. */
export type Wait = (ms: number, done: () => void) => () => void

const byTimer: Wait = (ms, done) => {
  // It does not keep a process that ends.
  const timer = setTimeout(done, ms).unref()
  return () => clearTimeout(timer)
}

export function createAttempts(now: () => number = Date.now, wait = byTimer): Attempts {
  /** The address that failed longest ago first. */
  const failures = new Map<string, { readonly count: number; readonly at: number }>()
  /** Oldest first. */
  const waiting = new Set<() => void>()

  function count(address: string): number {
    const before = failures.get(address)
    const next = before && now() < before.at + FORGOTTEN_MS ? before.count + 1 : 1
    failures.delete(address)
    const [oldest] = failures.keys()
    if (oldest !== undefined && failures.size >= MAX_CLIENTS) failures.delete(oldest)
    failures.set(address, { count: next, at: now() })
    return next
  }

  return {
    async failed(address) {
      const late = count(address) - AT_ONCE
      if (late <= 0) return
      // Answers that wait hold memory.
      const [oldest] = waiting
      if (oldest && waiting.size >= MAX_WAITING) oldest()
      await new Promise<void>(resolve => {
        const end = (): void => {
          cancel()
          waiting.delete(end)
          resolve()
        }
        const cancel = wait(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (late - 1)), end)
        waiting.add(end)
      })
    },
  }
}
