// Decodes the header blocks of one connection (HPACK, RFC 7541). Blocks must be decoded in the order in which they come,
// all of them: each may change the table that the next one refers to.

import { decodeHuffman } from './huffman.js'
import { STATIC_COUNT, STATIC_NAMES, STATIC_VALUES } from './static-table.js'

/** The block cannot be decoded, so that no later one can be either. */
export class CompressionError extends Error {}

/** What a field counts for beside its name and value, as in the settings of HTTP/2. */
const FIELD_OVERHEAD = 32
/** The size of the table, which the client may reduce. */
const TABLE_SIZE = 4096

export interface HpackDecoder {
  /**
   * Names and values alternating; undefined if they are larger than the limit. Of more fields than are allowed, one more
   * than that comes back: a field that is sent again takes a byte, and must not cost much more here. Throws a CompressionError.
   */
  decode(block: Buffer): string[] | undefined
}

export function createHpackDecoder(maxSize: number, maxFields = Infinity): HpackDecoder {
  return new Decoder(maxSize, maxFields)
}

class Decoder implements HpackDecoder {
  /** The newest entry is the last one. */
  private readonly names: string[] = []
  private readonly values: string[] = []
  private size = 0
  private limit = TABLE_SIZE
  private block: Buffer = NO_BYTES
  private at = 0
  private end = 0

  constructor(
    private readonly maxSize: number,
    private readonly maxFields: number,
  ) {}

  decode(block: Buffer): string[] | undefined {
    this.block = block
    this.at = 0
    this.end = block.length
    const fields: string[] = []
    let size = 0
    while (this.at < this.end) {
      const byte = block[this.at]!
      let name: string
      let value: string
      if (byte & 0x80) {
        const index = this.integer(7)
        name = this.nameAt(index)
        value = this.valueAt(index)
      } else if ((byte & 0xe0) === 0x20) {
        if (fields.length > 0) throw new CompressionError('the size of the table changes within a block')
        this.resize(this.integer(5))
        continue
      } else {
        const isIndexed = (byte & 0x40) !== 0
        const index = this.integer(isIndexed ? 6 : 4)
        name = index === 0 ? this.text() : this.nameAt(index)
        value = this.text()
        if (isIndexed) this.add(name, value)
      }
      size += name.length + value.length + FIELD_OVERHEAD
      // The rest must still be decoded for its entries.
      if (size <= this.maxSize && fields.length <= 2 * this.maxFields) fields.push(name, value)
    }
    this.block = NO_BYTES
    return size <= this.maxSize ? fields : undefined
  }

  private nameAt(index: number): string {
    if (index === 0) throw new CompressionError('no such entry')
    if (index <= STATIC_COUNT) return STATIC_NAMES[index]!
    const name = this.names[this.names.length - (index - STATIC_COUNT)]
    if (name === undefined) throw new CompressionError('no such entry')
    return name
  }

  private valueAt(index: number): string {
    return index <= STATIC_COUNT ? STATIC_VALUES[index]! : this.values[this.values.length - (index - STATIC_COUNT)]!
  }

  private add(name: string, value: string): void {
    const size = name.length + value.length + FIELD_OVERHEAD
    this.evict(this.limit - size)
    if (size > this.limit) return
    this.names.push(name)
    this.values.push(value)
    this.size += size
  }

  private resize(limit: number): void {
    if (limit > TABLE_SIZE) throw new CompressionError('the table is too large')
    this.limit = limit
    this.evict(limit)
  }

  /** Removes the oldest entries until the others fit. */
  private evict(limit: number): void {
    let count = 0
    while (this.size > limit && count < this.names.length) {
      this.size -= this.names[count]!.length + this.values[count]!.length + FIELD_OVERHEAD
      count++
    }
    if (count === 0) return
    this.names.splice(0, count)
    this.values.splice(0, count)
  }

  private byte(): number {
    if (this.at >= this.end) throw new CompressionError('the block ends within a field')
    return this.block[this.at++]!
  }

  private integer(prefixBits: number): number {
    const most = (1 << prefixBits) - 1
    let value = this.byte() & most
    if (value < most) return value
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.byte()
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new CompressionError('a number is too large')
  }

  private text(): string {
    const isHuffman = (this.block[this.at] ?? 0) >= 0x80
    const length = this.integer(7)
    const start = this.at
    this.at += length
    if (this.at > this.end) throw new CompressionError('the block ends within a text')
    if (!isHuffman) return this.block.toString('latin1', start, this.at)
    const text = decodeHuffman(this.block, start, this.at)
    if (text === undefined) throw new CompressionError('a text is not encoded correctly')
    return text
  }
}

const NO_BYTES = Buffer.alloc(0)
