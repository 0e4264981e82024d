// Encodes the headers of responses (HPACK, RFC 7541) as literals that enter no table: most values are either the same in
// all responses, and their encoding is remembered, or different in each of them.

import { STATIC_NAMES } from './static-table.js'

const INDEXES = new Map<string, number>()
for (const [index, name] of STATIC_NAMES.entries()) if (index > 0 && !INDEXES.has(name)) INDEXES.set(name, index)

/** Sets the size of the table to 0. It begins the first block, so that no later setting of the client needs an answer. */
export const NO_TABLE = 0x20

/** The indexes of the table whose value is a status, too. */
const STATUSES = new Map([200, 204, 206, 304, 400, 404, 500].map((status, i) => [status, 8 + i]))

let scratch = Buffer.allocUnsafeSlow(4096)
let at = 0

/** The last encoding of a field by its name. */
const lastOf = new Map<string, { readonly value: string; readonly bytes: Buffer }>()
const MAX_REMEMBERED = 200

export interface HeaderFields {
  [name: string]: number | string | readonly string[] | undefined
}

/** The block of a response. The buffer is overwritten by the next call. */
export function encodeResponseHeaders(status: number, headers: HeaderFields, isFirst: boolean): Buffer {
  at = 0
  if (isFirst) put(NO_TABLE)
  const index = STATUSES.get(status)
  if (index !== undefined) put(0x80 | index)
  else writeField(':status', String(status))
  for (const given in headers) {
    const value = headers[given]
    if (value === undefined) continue
    const name = given.toLowerCase()
    if (typeof value === 'object') for (const each of value) writeField(name, each)
    else writeField(name, String(value))
  }
  return scratch.subarray(0, at)
}

function writeField(name: string, value: string): void {
  const last = lastOf.get(name)
  if (last !== undefined && last.value === value) {
    reserve(last.bytes.length)
    scratch.set(last.bytes, at)
    at += last.bytes.length
    return
  }
  const start = at
  const index = INDEXES.get(name) ?? 0
  reserve(name.length + value.length + 16)
  writeInteger(0, 4, index)
  if (index === 0) writeText(name)
  writeText(value.replace(UNSENDABLE, ' '))
  if (last === undefined && lastOf.size >= MAX_REMEMBERED) return
  // What changes with every response is not worth a copy.
  if (!CHANGING.has(name)) lastOf.set(name, { value, bytes: Buffer.from(scratch.subarray(start, at)) })
}

const CHANGING = new Set(['audit-id', 'content-length', 'warning'])

/** Characters that would end the field. */
// oxlint-disable-next-line no-control-regex
const UNSENDABLE = /[\u0000\r\n]/g

function writeText(text: string): void {
  writeInteger(0, 7, text.length)
  at += scratch.write(text, at, 'latin1')
}

function writeInteger(flags: number, prefixBits: number, value: number): void {
  const most = (1 << prefixBits) - 1
  if (value < most) return put(flags | value)
  put(flags | most)
  let rest = value - most
  for (; rest >= 128; rest >>>= 7) put((rest & 127) | 128)
  put(rest)
}

function put(byte: number): void {
  scratch[at++] = byte
}

function reserve(bytes: number): void {
  if (at + bytes <= scratch.length) return
  const larger = Buffer.allocUnsafeSlow(2 * (at + bytes))
  scratch.copy(larger, 0, 0, at)
  scratch = larger
}
