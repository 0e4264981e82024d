// Page sizes for reading a complete key range: fewer entries where values are large, so that a page takes little memory
// and does not block the event loop for long.
import type { Entry } from './store.js'

export interface PageLimits {
  readonly entries: number
  readonly bytes: number
}

/** The first page, when the size of the entries is not known yet. */
export const FIRST_LIMIT = 20

/** How many entries of this average size the next page may have. */
export function limitAfter(entries: readonly Entry[], limits: PageLimits): number {
  const bytes = entries.reduce((sum, { value }) => sum + value.length, 0)
  return Math.max(1, Math.min(limits.entries, Math.floor((limits.bytes * entries.length) / bytes)))
}
