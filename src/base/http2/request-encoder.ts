// Encodes the headers of the requests of one connection (HPACK, RFC 7541). A client sends the same few fields again and
// again: they enter the table of the other side at their first use, so that a request is a few bytes there, which are also
// remembered here. Fields enter while the table has room, and no entry ever leaves it.

import { beginBlock, blockFrom, NAME_INDEXES, reserve, writeByte, writeInteger, writeLiteral } from './hpack-writer.js'
import { STATIC_COUNT, STATIC_NAMES, STATIC_VALUES } from './static-table.js'

export interface RequestEncoder {
  /** The block of a request. Its buffer may be overwritten by the next call. */
  encode(fields: RequestFields): Buffer
  /** The other side has set the size of its table. */
  resize(size: number): void
}

/** Names and values alternating. An array that is used again is not encoded again. */
export type RequestFields = readonly string[]

/** The size of the table before any setting. */
const TABLE_SIZE = 4096
/** What an entry counts for beside its name and value. */
const ENTRY_OVERHEAD = 32
const INDEXED = 0x80
const ENTERS_TABLE = 0x40
/** Sets the size of the table to 0. */
const NO_TABLE = 0x20

export function createRequestEncoder(): RequestEncoder {
  /** The entries by name and value, numbered from the oldest on. */
  const entries = new Map<string, number>()
  const known = new WeakMap<RequestFields, { readonly block: Buffer; readonly entries: number }>()
  let room = TABLE_SIZE
  /** An announcement of a smaller table, which begins the next block. */
  let isAnnounced = true

  function writeField(name: string, value: string): void {
    const field = `${name}\n${value}`
    const index = STATIC_FIELDS.get(field) ?? indexOf(entries.get(field))
    if (index !== undefined) {
      reserve(8)
      return writeInteger(INDEXED, 7, index)
    }
    const size = name.length + value.length + ENTRY_OVERHEAD
    const nameIndex = NAME_INDEXES.get(name) ?? 0
    if (size > room) return writeLiteral(0, 4, nameIndex, name, value)
    writeLiteral(ENTERS_TABLE, 6, nameIndex, name, value)
    entries.set(field, entries.size)
    room -= size
  }

  /** The newest entry has the first index after the static table. */
  const indexOf = (entry: number | undefined): number | undefined =>
    entry === undefined ? undefined : STATIC_COUNT + entries.size - entry

  return {
    encode(fields) {
      const last = known.get(fields)
      if (last?.entries === entries.size && isAnnounced) return last.block
      beginBlock()
      if (!isAnnounced) writeByte(NO_TABLE)
      const before = entries.size
      for (let i = 0; i < fields.length; i += 2) writeField(fields[i]!, fields[i + 1]!)
      if (entries.size === before && isAnnounced)
        known.set(fields, { block: Buffer.from(blockFrom(0)), entries: before })
      isAnnounced = true
      return blockFrom(0)
    },

    /** A smaller table is not used at all: no server of gRPC asks for one. */
    resize(size) {
      if (size >= TABLE_SIZE || room === 0) return
      room = 0
      entries.clear()
      isAnnounced = false
    },
  }
}

const STATIC_FIELDS = new Map<string, number>()
for (const [index, name] of STATIC_NAMES.entries()) {
  if (index > 0 && STATIC_VALUES[index] !== '') STATIC_FIELDS.set(`${name}\n${STATIC_VALUES[index]}`, index)
}
