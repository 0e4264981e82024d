// How many entries a prefix has, without counting them for every page of a list.
//
// A prefix is counted when its first page is read, and every later write updates the count. The number that remained
// after a page is cached for the next page at the same revision.
import { prefixesOf } from '../keys.js'
import type { Revision, StoreEvent } from '../store.js'

export interface PrefixCounts {
  /**
   * The number of entries of a prefix after a key (all of them if no key is given) at a revision, if it is cached.
   * `latest` means that the revision is that of the last committed events.
   */
  recall(prefix: string, after: string | undefined, asOf: Revision, latest: boolean): number | undefined
  /** Caches the number of entries that remained after the last key of a page. */
  remember(prefix: string, after: string, asOf: Revision, remaining: number): void
  /** Counts a prefix as of a revision. If that is the latest, the count is kept up to date from now on. */
  count(prefix: string, asOf: Revision, latest: boolean, walk: () => Promise<number>): Promise<number>
  /** Updates the counts with the events of the latest revisions. */
  committed(events: readonly StoreEvent[]): void
}

const MAX_PREFIXES = 10_000
const MAX_MARKS = 10_000

/** A running count of a prefix, and the creates and deletes since it began. */
interface Counting {
  readonly asOf: Revision
  readonly total: Promise<number>
  change: number
}

export function createPrefixCounts(): PrefixCounts {
  const sizes = new Map<string, number>()
  const countings = new Map<string, Counting>()
  const marks = new Map<string, number>()

  function change(prefix: string, by: number): void {
    const size = sizes.get(prefix)
    if (size !== undefined) sizes.set(prefix, size + by)
    const counting = countings.get(prefix)
    if (counting) counting.change += by
  }

  /** Waits for the count, and caches it with the changes made meanwhile. */
  async function finishCounting(prefix: string, counting: Omit<Counting, 'total'>, walk: () => Promise<number>) {
    try {
      const total = await walk()
      keep(sizes, prefix, total + counting.change, MAX_PREFIXES)
      return total
    } finally {
      countings.delete(prefix)
    }
  }

  return {
    recall(prefix, after, asOf, latest) {
      if (after !== undefined) return recent(marks, markOf(prefix, after, asOf))
      return latest ? recent(sizes, prefix) : undefined
    },

    remember(prefix, after, asOf, remaining) {
      keep(marks, markOf(prefix, after, asOf), remaining, MAX_MARKS)
    },

    count(prefix, asOf, latest, walk) {
      const underWay = countings.get(prefix)
      if (underWay?.asOf === asOf) return underWay.total
      if (underWay || !latest) return walk()
      const counting = { asOf, change: 0 }
      const total = finishCounting(prefix, counting, walk)
      countings.set(prefix, Object.assign(counting, { total }))
      return total
    },

    committed(events) {
      if (sizes.size === 0 && countings.size === 0) return
      for (const { key, value, previous } of events) {
        if (value && previous) continue
        for (const prefix of prefixesOf(key)) change(prefix, value ? 1 : -1)
      }
    },
  }
}

/** The prefix is the beginning of the key, so its length identifies it. */
const markOf = (prefix: string, after: string, asOf: Revision): string => `${asOf}:${prefix.length}:${after}`

/** Maps keep insertion order: the first key is the least recently used one. */
function recent(map: Map<string, number>, key: string): number | undefined {
  const value = map.get(key)
  if (value !== undefined) {
    map.delete(key)
    map.set(key, value)
  }
  return value
}

function keep(map: Map<string, number>, key: string, value: number, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) map.delete(map.keys().next().value!)
}
