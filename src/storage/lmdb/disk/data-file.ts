// Checks LMDB's file before LMDB opens it. LMDB maps the file into memory, so a truncated file would crash the process,
// and an empty file would be initialized as a new one.
//
// The file is a sequence of pages; its numbers are little-endian. It begins with two meta pages, of which the one with
// the later transaction is valid. It has the roots of two trees: the free pages, and the main tree, whose entries hold
// the roots of the tables.
import { closeSync, openSync, readSync, statSync } from 'node:fs'

export type DataFileProblem =
  | 'is missing'
  | 'is empty'
  | 'is not a file'
  | 'is not an LMDB file of the kind that this version of Binnacle writes'
  | `was cut short: ${string}`

/** The problem with the file, if there is one. The file must not be written to meanwhile. */
export function checkDataFile(file: string): DataFileProblem | undefined {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return 'is missing'
  if (!stats.isFile()) return 'is not a file'
  if (stats.size === 0) return 'is empty'
  const fd = openSync(file, 'r')
  try {
    const meta = readMeta(fd)
    if (!meta) return 'is not an LMDB file of the kind that this version of Binnacle writes'
    const { pages, pageSize } = meta
    // LMDB does not write free pages at the end of the file, so a short file may still be complete.
    if (stats.size >= pages * pageSize || isComplete(fd, meta, Math.floor(stats.size / pageSize))) return undefined
    return `was cut short: it has ${stats.size} bytes and should have ${pages * pageSize}`
  } finally {
    closeSync(fd)
  }
}

interface Meta {
  readonly pageSize: number
  /** The number of pages, of which the last ones may not be written yet. */
  readonly pages: number
  readonly transaction: bigint
  readonly roots: readonly number[]
}

const MAGIC = 0xbeefc0de
const VERSION = 2
const META_BYTES = 160

function readMeta(fd: number): Meta | undefined {
  const first = readMetaPage(fd, 0)
  const second = first && readMetaPage(fd, first.pageSize)
  return second && second.transaction > first.transaction ? second : second && first
}

function readMetaPage(fd: number, position: number): Meta | undefined {
  const page = Buffer.alloc(META_BYTES)
  if (readSync(fd, page, 0, META_BYTES, position) < META_BYTES) return undefined
  const pageSize = page.readUInt32LE(48)
  if (page.readUInt32LE(24) !== MAGIC || page.readUInt32LE(28) !== VERSION) return undefined
  if (pageSize < 512 || pageSize > 65_536) return undefined
  return {
    pageSize,
    pages: readNumber(page, 144) + 1,
    transaction: page.readBigUInt64LE(152),
    roots: [readNumber(page, 88), readNumber(page, 136)],
  }
}

const PAGE_HEADER = 24
const NODE_HEADER = 8
const BRANCH_PAGE = 1
const LEAF_PAGE = 2
const OVERFLOW_NODE = 1
const TABLE_NODE = 2
const NO_ROOT = Number(0xffff_ffff_ffff_ffffn)

/** Whether every page that a tree refers to is among the first `count` pages of the file. */
function isComplete(fd: number, { roots, pageSize }: Meta, count: number): boolean {
  const page = Buffer.alloc(pageSize)
  const open = roots.filter(root => root !== NO_ROOT)
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (number >= count) return false
    readSync(fd, page, 0, pageSize, number * pageSize)
    const flags = page.readUInt16LE(18)
    const nodes = page.readUInt16LE(20) >>> 1
    if ((flags & (BRANCH_PAGE | LEAF_PAGE)) === 0) return false
    for (let i = 0; i < nodes; i++) {
      const node = PAGE_HEADER + page.readUInt16LE(PAGE_HEADER + 2 * i)
      if (flags & BRANCH_PAGE) {
        open.push(page.readUIntLE(node, 6))
        continue
      }
      const kind = page.readUInt16LE(node + 4)
      const data = node + NODE_HEADER + page.readUInt16LE(node + 6)
      if (kind & OVERFLOW_NODE && readNumber(page, data) + readNumber(page, data + 16) > count) return false
      if (kind & TABLE_NODE && readNumber(page, data + 40) !== NO_ROOT) open.push(readNumber(page, data + 40))
    }
  }
  return true
}

const readNumber = (page: Buffer, position: number): number => Number(page.readBigUInt64LE(position))
