// A cache of limited size whose entries expire. When it is full, the entry that was added first is dropped.

export interface ExpiringCache<T> {
  get(key: string): T | undefined
  /** An entry that lives for 0 ms is not kept. */
  put(key: string, value: T, lifetimeMs: number): void
  clear(): void
}

export function createExpiringCache<T>(maxEntries: number, now: () => number = Date.now): ExpiringCache<T> {
  const entries = new Map<string, { readonly value: T; readonly until: number }>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.until > now()) return entry.value
      entries.delete(key)
      return undefined
    },
    put(key, value, lifetimeMs) {
      if (lifetimeMs <= 0) return
      entries.delete(key)
      if (entries.size >= maxEntries) entries.delete(entries.keys().next().value!)
      entries.set(key, { value, until: now() + lifetimeMs })
    },
    clear: () => entries.clear(),
  }
}
