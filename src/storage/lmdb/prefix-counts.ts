// How many entries a folder holds, without walking it for every page of a list.
//
// A folder is counted when its first page is asked for, and its count is kept up to date with every write from then
// on. What remained after a page is remembered for the page that goes on from there at the same revision.
import { foldersOf } from '../keys.js'
import type { Revision, StoreEvent } from '../store.js'

export interface FolderCounts {
  /**
   * How many entries of a folder sort after a key (all of them, when none is given) at a revision, where that is at
   * hand; `latest` tells that the revision is that of the last events that were taken in.
   */
  recall(folder: string, after: string | undefined, asOf: Revision, latest: boolean): number | undefined
  /** Keeps in mind what remained after the last key of a page. */
  remember(folder: string, after: string, asOf: Revision, remaining: number): void
  /** Has a folder counted as of a revision; when that is the latest, the count is kept up to date from now on. */
  count(folder: string, asOf: Revision, latest: boolean, walk: () => Promise<number>): Promise<number>
  /** Takes in the events that the latest revision brought. */
  committed(events: readonly StoreEvent[]): void
}

const MAX_FOLDERS = 10_000
const MAX_MARKS = 10_000

/** A walk through a folder, and what came and went in it meanwhile. */
interface Counting {
  readonly asOf: Revision
  readonly total: Promise<number>
  change: number
}

export function createFolderCounts(): FolderCounts {
  const sizes = new Map<string, number>()
  const countings = new Map<string, Counting>()
  const marks = new Map<string, number>()

  function change(folder: string, by: number): void {
    const size = sizes.get(folder)
    if (size !== undefined) sizes.set(folder, size + by)
    const counting = countings.get(folder)
    if (counting) counting.change += by
  }

  /** Waits for the walk, and keeps the size that it found with what changed meanwhile. */
  async function settle(folder: string, counting: Omit<Counting, 'total'>, walk: () => Promise<number>) {
    try {
      const total = await walk()
      keep(sizes, folder, total + counting.change, MAX_FOLDERS)
      return total
    } finally {
      countings.delete(folder)
    }
  }

  return {
    recall(folder, after, asOf, latest) {
      if (after !== undefined) return recent(marks, markOf(folder, after, asOf))
      return latest ? recent(sizes, folder) : undefined
    },

    remember(folder, after, asOf, remaining) {
      keep(marks, markOf(folder, after, asOf), remaining, MAX_MARKS)
    },

    count(folder, asOf, latest, walk) {
      const underWay = countings.get(folder)
      if (underWay?.asOf === asOf) return underWay.total
      if (underWay || !latest) return walk()
      const counting = { asOf, change: 0 }
      const total = settle(folder, counting, walk)
      countings.set(folder, Object.assign(counting, { total }))
      return total
    },

    committed(events) {
      if (sizes.size === 0 && countings.size === 0) return
      for (const { key, value, previous } of events) {
        if (value && previous) continue
        for (const folder of foldersOf(key)) change(folder, value ? 1 : -1)
      }
    },
  }
}

/** A folder is the beginning of its keys, so that its length tells which one is meant. */
const markOf = (folder: string, after: string, asOf: Revision): string => `${asOf}:${folder.length}:${after}`

/** Maps keep the order in which keys were set: the first is the one that was not asked for longest. */
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
