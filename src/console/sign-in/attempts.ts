// Limits how often a client may give a wrong code or token.

const WINDOW_MS = 60_000
const MAX_FAILURES = 10
const MAX_CLIENTS = 1000

export interface Attempts {
  /** Seconds until the client may try again; 0 if it may now. */
  waitOf(address: string): number
  failed(address: string): void
}

export function createAttempts(now: () => number = Date.now): Attempts {
  /** Oldest first. */
  const failures = new Map<string, { readonly since: number; count: number }>()
  return {
    waitOf(address) {
      const found = failures.get(address)
      if (!found || found.count < MAX_FAILURES) return 0
      return Math.max(0, Math.ceil((found.since + WINDOW_MS - now()) / 1000))
    },
    failed(address) {
      const found = failures.get(address)
      if (found && now() < found.since + WINDOW_MS) {
        found.count++
        return
      }
      failures.delete(address)
      const [oldest] = failures.keys()
      if (failures.size >= MAX_CLIENTS && oldest !== undefined) failures.delete(oldest)
      failures.set(address, { since: now(), count: 1 })
    },
  }
}
