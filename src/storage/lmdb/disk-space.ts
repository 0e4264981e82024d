// Room on disk, made sure of before LMDB needs it. LMDB does not always survive a write that fails for want of space
// (it tells the reason in too short a buffer), so a transaction goes to LMDB only when all that it can take is there.
//
// While the disk has plenty, the file is only declared longer, which finds out about limits on its size. When the disk
// has little, zeros are written ahead of LMDB. When it is full, the pages that are free within the file still serve,
// and a small reserve at its end is left to compaction, which makes more of them.
import { fstatSync, ftruncateSync, statfsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { StorageError } from '../storage-error.js'
import type { Tables } from './layout.js'

export interface DiskSpace {
  /** Makes sure that a transaction has room, at once or in a while, or fails with `no-space`. */
  ensure(need: Need): Promise<void> | undefined
  close(): Promise<void>
}

/** What a transaction takes at most. */
export interface Need {
  /** How many entries it puts or removes. */
  readonly entries: number
  /** The sizes of values beyond what fits on a page with others. */
  readonly large: readonly number[]
  /** It may use the reserve. */
  readonly urgent: boolean
}

/** An entry takes the pages on the way to it in each of the tables, most of which it shares with others. */
const PAGES_OF_ENTRY = 8
/** The roots of the tables, and LMDB's list of free pages. */
const PAGES_OF_TRANSACTION = 64

const RESERVE = 128
/** How much is made sure of ahead: half of what there is, within bounds. */
const MIN_AHEAD = 128
const MAX_AHEAD = 16_384
/** The same where it takes the space. */
const MAX_FILLED = 1024

/** So much free space is not used up by others within the time that its sight is trusted. */
const PLENTY_BYTES = 1024 ** 3
const PLENTY_MS = 1000

export async function createDiskSpace(file: string, tables: Tables): Promise<DiskSpace> {
  const handle = await open(file, 'r+')
  const { pageSize } = statsOf(tables)[0]
  /** No page from here on is in use. */
  let end = 0
  /** There is room for all pages up to here, until a moment. */
  let assured = 0
  let assuredUntil = 0
  /** The file has no holes from its end in use up to here. */
  let solid = 0

  async function makeRoom(pages: number, sideBySide: number, reserve: number): Promise<void> {
    const usage = usageOf(tables)
    end = usage.end
    const wanted = end + pages + reserve
    const ahead = Math.min(MAX_AHEAD, Math.max(MIN_AHEAD, end >>> 1))
    if (hasPlenty(file) && declare(handle.fd, (wanted + ahead) * pageSize)) {
      assured = wanted + ahead
      assuredUntil = performance.now() + PLENTY_MS
    } else {
      const start = Math.max(end, solid)
      const target = wanted + Math.min(ahead, MAX_FILLED)
      if (start < wanted) solid = Math.floor((await fill(handle, start * pageSize, target * pageSize)) / pageSize)
      assured = solid
      assuredUntil = Number.POSITIVE_INFINITY
    }
    if (wanted <= assured) end += pages
    // What was set free only just now cannot be used yet, so that there must be plenty.
    else if (usage.free < 3 * pages || end + sideBySide > assured) throw noSpace(file)
  }

  return {
    ensure({ entries, large, urgent }) {
      const sideBySide = large.reduce((sum, bytes) => sum + Math.ceil(bytes / pageSize) + 1, 0)
      const pages = PAGES_OF_TRANSACTION + PAGES_OF_ENTRY * entries + sideBySide
      const reserve = urgent ? 0 : RESERVE
      if (end + pages + reserve > assured || performance.now() > assuredUntil) {
        return makeRoom(pages, sideBySide, reserve)
      }
      end += pages
      return undefined
    },
    close: () => handle.close(),
  }
}

export const noSpace = (file: string, cause?: unknown): StorageError =>
  new StorageError(
    'no-space',
    `no space left to write to ${file}: nothing was written; free some space, or raise the limit on file sizes`,
    undefined,
    cause,
  )

/** Whether an error of Node.js says that there is no space. */
export const isNoSpace = (error: unknown): boolean =>
  ['ENOSPC', 'EFBIG', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')

/** As LMDB counts the pages of a tree. */
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

/** How many pages LMDB has taken from the file, and how many of those are free again. */
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

/** Makes the file at least so long, without taking the space; false when it may not be. */
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

/** Writes zeros as far as there is room; tells where they end. */
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
