// Encodes the headers of responses (HPACK, RFC 7541) as literals that enter no table: most values are either the same in
// all responses, and their encoding is remembered, or different in each of them.

import { beginBlock, blockEnd, blockFrom, NAME_INDEXES, writeByte, writeBytes, writeLiteral } from './hpack-writer.js'

/** Sets the size of the table to 0. It begins the first block, so that no later setting of the client needs an answer. */
export const NO_TABLE = 0x20

/** The indexes of the table whose value is a status, too. */
const STATUSES = new Map([200, 204, 206, 304, 400, 404, 500].map((status, i) => [status, 8 + i]))

/** The last encoding of a field by its name. */
const lastOf = new Map<string, { readonly value: string; readonly bytes: Buffer }>()
const MAX_REMEMBERED = 200

export interface HeaderFields {
  [name: string]: number | string | readonly string[] | undefined
}

/** The block of a response. The buffer is overwritten by the next call. */
export function encodeResponseHeaders(status: number, headers: HeaderFields, isFirst: boolean): Buffer {
  beginBlock()
  if (isFirst) writeByte(NO_TABLE)
  const index = STATUSES.get(status)
  if (index !== undefined) writeByte(0x80 | index)
  else writeField(':status', String(status))
  for (const given in headers) {
    const value = headers[given]
    if (value === undefined) continue
    const name = given.toLowerCase()
    if (typeof value === 'object') for (const each of value) writeField(name, each)
    else writeField(name, String(value))
  }
  return blockFrom(0)
}

function writeField(name: string, value: string): void {
  const last = lastOf.get(name)
  if (last !== undefined && last.value === value) return writeBytes(last.bytes)
  const start = blockEnd()
  writeLiteral(0, 4, NAME_INDEXES.get(name) ?? 0, name, value)
  if (last === undefined && lastOf.size >= MAX_REMEMBERED) return
  // What changes with every response is not worth a copy.
  if (!CHANGING.has(name)) lastOf.set(name, { value, bytes: Buffer.from(blockFrom(start)) })
}

const CHANGING = new Set(['audit-id', 'content-length', 'warning'])
