// How many entries to read at a time, for those who read everything: fewer where they are large, so that a page takes
// little memory and nobody waits long for a turn.
import type { Entry } from './store.js'

export interface PageLimits {
  readonly entries: number
  readonly bytes: number
}

/** Before it is known how large they are. */
export const FIRST_LIMIT = 20

/** How many entries like these a page may have. */
export function limitAfter(entries: readonly Entry[], limits: PageLimits): number {
  const bytes = entries.reduce((sum, { value }) => sum + value.length, 0)
  return Math.max(1, Math.min(limits.entries, Math.floor((limits.bytes * entries.length) / bytes)))
}
