// Writes the parts of a header block (HPACK, RFC 7541): one block at a time, into memory that the next one overwrites.

import { STATIC_NAMES } from './static-table.js'

let scratch = Buffer.allocUnsafeSlow(4096)
let at = 0

/** The first index of each name of the static table. */
export const NAME_INDEXES = new Map<string, number>()
for (const [index, name] of STATIC_NAMES.entries())
  if (index > 0 && !NAME_INDEXES.has(name)) NAME_INDEXES.set(name, index)

export function beginBlock(): void {
  at = 0
}

/** Where the block ends so far. */
export const blockEnd = (): number => at

/** The block from a position on. The memory is overwritten by the next block. */
export const blockFrom = (start: number): Buffer => scratch.subarray(start, at)

export function writeByte(byte: number): void {
  scratch[at++] = byte
}

export function writeBytes(bytes: Buffer): void {
  reserve(bytes.length)
  scratch.set(bytes, at)
  at += bytes.length
}

/** A field with its name and its value, or with the index of its name. `flags` and `prefixBits` say what it does to the table. */
export function writeLiteral(flags: number, prefixBits: number, index: number, name: string, value: string): void {
  reserve(name.length + value.length + 16)
  writeInteger(flags, prefixBits, index)
  if (index === 0) writeText(name)
  // A test costs a fraction of a replacement of nothing.
  writeText(UNSENDABLE.test(value) ? value.replace(ALL_UNSENDABLE, ' ') : value)
}

/** Characters that would end the field. */
// oxlint-disable-next-line no-control-regex
const UNSENDABLE = /[\u0000\r\n]/
// oxlint-disable-next-line no-control-regex
const ALL_UNSENDABLE = /[\u0000\r\n]/g

function writeText(text: string): void {
  writeInteger(0, 7, text.length)
  at += scratch.write(text, at, 'latin1')
}

export function writeInteger(flags: number, prefixBits: number, value: number): void {
  const most = (1 << prefixBits) - 1
  if (value < most) return writeByte(flags | value)
  writeByte(flags | most)
  let rest = value - most
  for (; rest >= 128; rest >>>= 7) writeByte((rest & 127) | 128)
  writeByte(rest)
}

export function reserve(bytes: number): void {
  if (at + bytes <= scratch.length) return
  const larger = Buffer.allocUnsafeSlow(2 * (at + bytes))
  scratch.copy(larger, 0, 0, at)
  scratch = larger
}
