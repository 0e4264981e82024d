// The protobuf wire format: varints, tags and lengths. Messages are written backwards, so that the length of each is
// known when it must be written. Errors have the messages of Go's generated decoders.
import type { InternedParts } from '../json/interned-parts.js'

export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
}

export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
export const FIXED32 = 5

// ---- writing

/** A buffer that is filled from its end; the written bytes are from `at` to the end. */
export interface Writer {
  buffer: Buffer
  at: number
  /** JSON within messages that is known already. */
  readonly parts: InternedParts | undefined
}

export const newWriter = (size = 1024, parts?: InternedParts): Writer => ({
  buffer: Buffer.allocUnsafe(size),
  at: size,
  parts,
})

export const written = ({ buffer, at }: Writer): Buffer => buffer.subarray(at)

function reserve(writer: Writer, size: number): void {
  if (writer.at >= size) return
  const used = writer.buffer.length - writer.at
  const larger = Buffer.allocUnsafe(Math.max(writer.buffer.length * 2, used + size))
  writer.buffer.copy(larger, larger.length - used, writer.at)
  writer.at = larger.length - used
  writer.buffer = larger
}

/** Writes an unsigned number up to 2^53, or a signed 64-bit one, which takes ten bytes if it is negative. */
export function writeVarint(writer: Writer, value: number | bigint): void {
  reserve(writer, 10)
  if (typeof value === 'number' && value >= 0 && value < 2 ** 31) {
    let size = 1
    for (let rest = value >>> 7; rest > 0; rest >>>= 7) size++
    let at = (writer.at -= size)
    let rest = value
    while (rest > 127) {
      writer.buffer[at++] = (rest & 127) | 128
      rest >>>= 7
    }
    writer.buffer[at] = rest
    return
  }
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  do {
    const more = rest > 127n
    bytes.push(Number(rest & 127n) | (more ? 128 : 0))
    rest >>= 7n
  } while (rest > 0n)
  writer.at -= bytes.length
  writer.buffer.set(bytes, writer.at)
}

export const writeTag = (writer: Writer, field: number, wire: number): void => writeVarint(writer, field * 8 + wire)

export function writeBytes(writer: Writer, bytes: Uint8Array): void {
  reserve(writer, bytes.length)
  writer.at -= bytes.length
  writer.buffer.set(bytes, writer.at)
  writeVarint(writer, bytes.length)
}

export function writeString(writer: Writer, text: string): void {
  const size = Buffer.byteLength(text)
  reserve(writer, size)
  writer.at -= size
  writer.buffer.write(text, writer.at)
  writeVarint(writer, size)
}

export function writeDouble(writer: Writer, value: number): void {
  reserve(writer, 8)
  writer.at -= 8
  writer.buffer.writeDoubleLE(value, writer.at)
}

/** Writes a message as a field: first its content by the callback, then its length before it. */
export function writeMessage(writer: Writer, content: () => void): void {
  const end = writer.buffer.length - writer.at
  content()
  writeVarint(writer, writer.buffer.length - writer.at - end)
}

// ---- reading

export interface Reader {
  readonly bytes: Buffer
  at: number
  readonly end: number
  /** JSON within messages that is known already. */
  readonly parts: InternedParts | undefined
}

export const newReader = (bytes: Uint8Array, parts?: InternedParts): Reader => ({
  bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  at: 0,
  end: bytes.byteLength,
  parts,
})

const endOfInput = (): ProtobufError => new ProtobufError('unexpected EOF')

/** The low and high halves of the last 64-bit varint. */
let low = 0
let high = 0

function readHalves(reader: Reader): void {
  low = 0
  high = 0
  for (let shift = 0; ; shift += 7) {
    if (shift >= 64) throw new ProtobufError('proto: integer overflow')
    if (reader.at >= reader.end) throw endOfInput()
    const byte = reader.bytes[reader.at++]!
    const bits = byte & 127
    if (shift < 28) low |= bits << shift
    else if (shift === 28) {
      low |= bits << 28
      high |= bits >>> 4
    } else high |= bits << (shift - 32)
    if (byte < 128) return
  }
}

/** Reads a varint as an int32; higher bits are cut off, as in Go. */
export function readInt32(reader: Reader): number {
  readHalves(reader)
  return low | 0
}

/** Reads a varint as an int64: a number if that is exact, otherwise a bigint. */
export function readInt64(reader: Reader): number | bigint {
  readHalves(reader)
  const value = (BigInt(high | 0) << 32n) | BigInt(low >>> 0)
  return value >= MIN_SAFE && value <= MAX_SAFE ? Number(value) : value
}

export function readBool(reader: Reader): boolean {
  readHalves(reader)
  return low !== 0 || high !== 0
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const MIN_SAFE = -MAX_SAFE

/** Reads the next field number and wire type. */
export function readTag(reader: Reader, message: string): { field: number; wire: number } {
  readHalves(reader)
  const wire = low & 7
  // Field numbers are int32 in Go.
  const field = (high << 29) | (low >>> 3) | 0
  if (wire === 4) throw new ProtobufError(`proto: ${message}: wiretype end group for non-group`)
  if (field <= 0) throw new ProtobufError(`proto: ${message}: illegal tag ${field} (wire type ${low | 0})`)
  return { field, wire }
}

function readLength(reader: Reader): number {
  readHalves(reader)
  const length = (high | 0) * 2 ** 32 + (low >>> 0)
  if (length < 0) throw new ProtobufError('proto: negative length found during unmarshaling')
  if (length > reader.end - reader.at) throw endOfInput()
  return length
}

export function readBytes(reader: Reader): Buffer {
  const length = readLength(reader)
  reader.at += length
  return reader.bytes.subarray(reader.at - length, reader.at)
}

export const readString = (reader: Reader): string => readBytes(reader).toString('utf8')

/** A reader of the next message. */
export function readMessage(reader: Reader): Reader {
  const length = readLength(reader)
  const inner = { bytes: reader.bytes, at: reader.at, end: reader.at + length, parts: reader.parts }
  reader.at += length
  return inner
}

export function readDouble(reader: Reader): number {
  if (reader.end - reader.at < 8) throw endOfInput()
  reader.at += 8
  return reader.bytes.readDoubleLE(reader.at - 8)
}

/** Skips an unknown field. Groups are deprecated, but may be nested. */
export function skipField(reader: Reader, wire: number): void {
  let groups = 0
  let next = wire
  for (;;) {
    switch (next) {
      case VARINT:
        readHalves(reader)
        break
      case FIXED64:
        skipBytes(reader, 8)
        break
      case BYTES:
        readBytes(reader)
        break
      case 3:
        groups++
        break
      case 4:
        if (groups === 0) throw new ProtobufError('proto: unexpected end of group')
        groups--
        break
      case FIXED32:
        skipBytes(reader, 4)
        break
      default:
        throw new ProtobufError(`proto: illegal wireType ${next}`)
    }
    if (groups === 0) return
    readHalves(reader)
    next = low & 7
  }
}

function skipBytes(reader: Reader, size: number): void {
  if (reader.end - reader.at < size) throw endOfInput()
  reader.at += size
}
