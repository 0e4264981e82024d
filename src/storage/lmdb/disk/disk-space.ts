// Reserves disk space before each transaction, because LMDB can crash when a write hits ENOSPC (it formats the error
// message into a buffer that is too short).
//
// While the disk has much free space, the file is only extended, which detects limits on file sizes. When the disk has
// little, zeros are written ahead of LMDB. When it is full, free pages within the file can still be used, and a small
// reserve at the end of the file is left for deletes and for compaction, which free more pages.
import { fstatSync, ftruncateSync, statfsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { StorageError } from '../../storage-error.js'
import type { Tables } from '../layout.js'

export interface DiskSpace {
  /** Reserves space for a transaction, synchronously if possible; rejects with `no-space`. */
  reserve(need: Need): Promise<void> | undefined
  /** Whether a transaction within the next second will have space: only where the disk has much, and limits allow it. */
  keepFree(need: Need): boolean
  /** Takes the space that deletes need on a full disk before others take it. No transaction may run. */
  keepReserve(): Promise<void> | undefined
  close(): Promise<void>
}

/** The most that a transaction can take. */
export interface Need {
  /** How many entries it writes or removes. */
  readonly entries: number
  /** The sizes of values that are too large to share a page. */
  readonly large: readonly number[]
  /** It may use the reserve that is kept for deletes and compaction. */
  readonly urgent: boolean
}

/** An entry changes the pages on the path to it in each table, most of which it shares with other entries. */
const PAGES_OF_ENTRY = 8
/** The roots of the tables, and LMDB's list of free pages. */
const PAGES_OF_TRANSACTION = 64

/** Kept for compaction and for deletes: an eighth of the file's size, within these bounds. */
const MIN_RESERVE = 128
const MAX_RESERVE = 2048
/** How many pages are reserved ahead: half of the file's size, within these bounds. */
const MIN_AHEAD = 128
const MAX_AHEAD = 16_384
/** The bound where reserving writes zeros. */
const MAX_FILLED = 1024

/** Other processes are assumed not to use up this much free space within `PLENTY_MS`. */
const PLENTY_BYTES = 1024 ** 3
const PLENTY_MS = 1000

export async function createDiskSpace(file: string, tables: Tables): Promise<DiskSpace> {
  const handle = await open(file, 'r+')
  const { pageSize } = statsOf(tables)[0]
  /** No page from here on is in use. */
  let end = 0
  /** There is space for all pages up to here, until `assuredUntil`. */
  let assured = 0
  let assuredUntil = 0
  /** Whether that is so because the disk has much free space. */
  let isPlenty = false
  /** The disk has little space, as was found out at most a second ago. */
  let shortUntil = 0
  /** The file has no holes from its used end up to here. */
  let solid = 0

  /** Where the disk has much free space, the file is extended beyond `wanted` pages. */
  function assurePlenty(wanted: number): boolean {
    const extended = wanted + aheadOf(end)
    isPlenty = hasPlenty(file) && declare(handle.fd, extended * pageSize)
    if (!isPlenty) return false
    assured = extended
    assuredUntil = performance.now() + PLENTY_MS
    return true
  }

  async function reserveMore(pages: number, sideBySide: number, reserve: number): Promise<void> {
    const usage = usageOf(tables)
    end = usage.end
    const wanted = end + pages + reserve
    if (!assurePlenty(wanted)) {
      const start = Math.max(end, solid)
      const target = wanted + Math.min(aheadOf(end), MAX_FILLED)
      if (start < wanted) solid = Math.floor((await fill(handle, start * pageSize, target * pageSize)) / pageSize)
      assured = solid
      assuredUntil = Number.POSITIVE_INFINITY
    }
    if (wanted <= assured) end += pages
    // Pages that were freed just now cannot be reused yet, so there must be several times as many.
    else if (usage.free < 3 * pages || end + sideBySide > assured) throw noSpace(file)
  }

  const reserveOf = (): number => Math.min(MAX_RESERVE, Math.max(MIN_RESERVE, end >>> 3))

  async function takeReserve(): Promise<void> {
    end = usageOf(tables).end
    // A transaction takes pages even if all that it writes fits into free ones.
    await reserveMore(0, 0, PAGES_OF_TRANSACTION + reserveOf())
  }

  function pagesOf({ entries, large, urgent }: Need) {
    const sideBySide = large.reduce((sum, bytes) => sum + Math.ceil(bytes / pageSize) + 1, 0)
    const pages = PAGES_OF_TRANSACTION + PAGES_OF_ENTRY * entries + sideBySide
    const reserve = urgent ? 0 : reserveOf()
    const isAssured = end + pages + reserve <= assured && performance.now() <= assuredUntil
    return { pages, sideBySide, reserve, isAssured }
  }

  return {
    reserve(need) {
      const { pages, sideBySide, reserve, isAssured } = pagesOf(need)
      if (!isAssured) return reserveMore(pages, sideBySide, reserve)
      end += pages
      return undefined
    },
    keepFree(need) {
      const { pages, reserve, isAssured } = pagesOf(need)
      if (isAssured) return isPlenty
      if (performance.now() < shortUntil) return false
      shortUntil = performance.now() + PLENTY_MS
      try {
        end = usageOf(tables).end
        if (!assurePlenty(end + pages + reserve)) return false
      } catch {
        // The disk fails. The transaction that follows finds out how.
        return false
      }
      shortUntil = 0
      return true
    },
    keepReserve() {
      try {
        if (hasPlenty(file)) return undefined
      } catch {
        return undefined // The next transaction finds out how the disk fails.
      }
      return takeReserve().catch(() => {})
    },
    close: () => handle.close(),
  }
}

const aheadOf = (pages: number): number => Math.min(MAX_AHEAD, Math.max(MIN_AHEAD, pages >>> 1))

export const noSpace = (file: string, cause?: unknown): StorageError =>
  new StorageError(
    'no-space',
    `no space left to write to ${file}: nothing was written; free some space, or raise the limit on file sizes`,
    undefined,
    cause,
  )

/** Whether an error of Node.js means that there is no space. */
export const isNoSpace = (error: unknown): boolean =>
  ['ENOSPC', 'EFBIG', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')

/** LMDB's page counts of a tree. */
interface TreeStats {
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface Stats extends TreeStats {
  readonly pageSize: number
  readonly lastPageNumber: number
  readonly root: TreeStats
  readonly free: TreeStats
}

const statsOf = ({ current, log, milestones, meta }: Tables) =>
  [current, log, milestones, meta].map(table => table.getStats() as Stats) as [Stats, ...Stats[]]

/** How many pages LMDB has allocated in the file, and how many of them are free again. */
function usageOf(tables: Tables): { readonly end: number; readonly free: number } {
  const stats = statsOf(tables)
  const [{ lastPageNumber, root, free }] = stats
  const metaPages = 2
  const used = [...stats, root, free].reduce((sum, tree) => sum + pagesIn(tree), metaPages)
  return { end: lastPageNumber + 1, free: lastPageNumber + 1 - used }
}

const pagesIn = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats): number =>
  treeBranchPageCount + treeLeafPageCount + overflowPages

function hasPlenty(file: string): boolean {
  const { bavail, bsize } = statfsSync(file)
  return bavail * bsize > PLENTY_BYTES
}

/** Extends the file without allocating space; false if the size is not allowed. */
function declare(fd: number, bytes: number): boolean {
  try {
    if (fstatSync(fd).size < bytes) ftruncateSync(fd, bytes)
    return true
  } catch (error) {
    if (isNoSpace(error)) return false
    throw error
  }
}

const ZEROS = Buffer.alloc(256 * 1024)

/** Writes zeros while there is space; returns the position where they end. */
async function fill(handle: FileHandle, from: number, to: number): Promise<number> {
  let position = from
  try {
    while (position < to) {
      const { bytesWritten } = await handle.write(ZEROS, 0, Math.min(ZEROS.length, to - position), position)
      position += bytesWritten
    }
  } catch (error) {
    if (!isNoSpace(error)) throw error
  }
  return position
}
