// Encodes CBOR as the API server does: strings and keys as byte strings, maps sorted by the bytes of their encoded keys,
// floats in the shortest lossless size, no indefinite lengths, and the self-described tag around the item.
import { isObject, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { BYTES, FALSE, FLOAT16, LIST, MAP, NEGATIVE, NULL, POSITIVE, PRIMITIVE, TRUE } from './heads.js'

/** Tag 55799, which identifies a body as CBOR. */
export const SELF_DESCRIBED = Buffer.from([0xd9, 0xd9, 0xf7])

export function encodeCbor(value: Value): Buffer {
  const writer = new Writer()
  writer.raw(SELF_DESCRIBED)
  writer.value(value)
  return writer.finish()
}

/** A value inside another one. */
export function encodeCborItem(value: Value): Buffer {
  const writer = new Writer()
  writer.value(value)
  return writer.finish()
}

/** What stands before and after the items of a map's list, for lists whose items are encoded one by one. */
export function encodeCborAround(map: ValueObject, list: string, count: number): { before: Buffer; after: Buffer } {
  const entries = sortedEntries({ ...map, [list]: [] })
  const at = entries.findIndex(({ bytes }) => bytes.toString() === list)
  const before = new Writer()
  before.raw(SELF_DESCRIBED)
  before.beginMap(entries.length)
  for (const { bytes, member } of entries.slice(0, at)) before.member(bytes, member)
  before.beginListMember(entries[at]!.bytes, count)
  const after = new Writer()
  for (const { bytes, member } of entries.slice(at + 1)) after.member(bytes, member)
  return { before: before.finish(), after: after.finish() }
}

interface EncodedMember {
  readonly bytes: Buffer
  readonly member: Value
}

/** An encoded key begins with its length, so shorter keys sort first. */
const sortedEntries = (map: ValueObject): EncodedMember[] =>
  Object.keys(map)
    .map(key => ({ bytes: Buffer.from(key), member: map[key]! }))
    .toSorted((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes))

/** A list or map that is being written. */
interface Open {
  keys: Buffer[] | undefined
  members: Value[]
  done: number
}

class Writer {
  private buffer = Buffer.allocUnsafe(1024)
  private length = 0

  finish(): Buffer {
    return this.buffer.subarray(0, this.length)
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.length)
    this.length += bytes.length
  }

  beginMap(size: number): void {
    this.head(MAP, size)
  }

  beginListMember(key: Buffer, length: number): void {
    this.key(key)
    this.head(LIST, length)
  }

  member(key: Buffer, value: Value): void {
    this.key(key)
    this.value(value)
  }

  private key(key: Buffer): void {
    this.head(BYTES, key.length)
    this.raw(key)
  }

  /** Writes a value with an explicit stack, so that depth does not use the call stack. */
  value(root: Value): void {
    const open: Open[] = []
    this.begin(root, open)
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const i = top.done++
      if (i === top.members.length) {
        open.pop()
        continue
      }
      const key = top.keys?.[i]
      if (key !== undefined) this.key(key)
      this.begin(top.members[i]!, open)
    }
  }

  private begin(value: Value, open: Open[]): void {
    if (typeof value === 'string') this.string(value)
    else if (typeof value === 'number') {
      if (Number.isInteger(value)) this.integer(value)
      else this.float(value)
    } else if (typeof value === 'bigint') this.integer(value)
    else if (value instanceof WholeFloat) this.float(value.value)
    else if (Array.isArray(value)) {
      this.head(LIST, value.length)
      open.push({ keys: undefined, members: value, done: 0 })
    } else if (isObject(value)) {
      const entries = sortedEntries(value)
      this.head(MAP, entries.length)
      open.push({ keys: entries.map(({ bytes }) => bytes), members: entries.map(({ member }) => member), done: 0 })
    } else this.head(PRIMITIVE, value === null ? NULL : value ? TRUE : FALSE)
  }

  private string(text: string): void {
    const length = Buffer.byteLength(text)
    this.head(BYTES, length)
    this.reserve(length)
    this.length += this.buffer.write(text, this.length)
  }

  private integer(value: number | bigint): void {
    if (value >= 0) this.head(POSITIVE, value)
    else this.head(NEGATIVE, typeof value === 'number' ? -1 - value : -1n - value)
  }

  private float(value: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`cbor: unsupported value: ${value}`)
    this.reserve(9)
    const half = toHalf(value)
    if (half !== undefined) {
      this.buffer[this.length] = (PRIMITIVE << 5) | FLOAT16
      this.length = this.buffer.writeUInt16BE(half, this.length + 1)
    } else if (Math.fround(value) === value) {
      this.buffer[this.length] = (PRIMITIVE << 5) | (FLOAT16 + 1)
      this.length = this.buffer.writeFloatBE(value, this.length + 1)
    } else {
      this.buffer[this.length] = (PRIMITIVE << 5) | (FLOAT16 + 2)
      this.length = this.buffer.writeDoubleBE(value, this.length + 1)
    }
  }

  private head(type: number, argument: number | bigint): void {
    this.reserve(9)
    const initial = type << 5
    const at = this.length
    if (argument < 24) this.length = this.buffer.writeUInt8(initial | Number(argument), at)
    else if (argument < 0x100) this.length = this.buffer.writeUInt16BE(((initial | 24) << 8) | Number(argument), at)
    else if (argument < 0x10000) {
      this.buffer[at] = initial | 25
      this.length = this.buffer.writeUInt16BE(Number(argument), at + 1)
    } else if (argument < 0x100000000) {
      this.buffer[at] = initial | 26
      this.length = this.buffer.writeUInt32BE(Number(argument), at + 1)
    } else {
      this.buffer[at] = initial | 27
      this.length = this.buffer.writeBigUInt64BE(BigInt(argument), at + 1)
    }
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + bytes))
    this.buffer.copy(larger, 0, 0, this.length)
    this.buffer = larger
  }
}

/** The bits of the number as a 16-bit float, if that is exact. */
function toHalf(value: number): number | undefined {
  const sign = Object.is(value, -0) || value < 0 ? 0x8000 : 0
  const size = Math.abs(value)
  if (size === 0) return sign
  if (size < 2 ** -14) {
    const fraction = size * 2 ** 24
    return Number.isInteger(fraction) ? sign | fraction : undefined
  }
  const exponent = Math.floor(Math.log2(size))
  if (exponent > 15) return undefined
  const fraction = (size / 2 ** exponent - 1) * 1024
  return Number.isInteger(fraction) && fraction < 1024 ? sign | ((exponent + 15) << 10) | fraction : undefined
}
