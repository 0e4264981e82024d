// The head of a CBOR data item: its major type and its argument (RFC 8949, section 3).
import { CodecError } from '../codec-error.js'

export const POSITIVE = 0
export const NEGATIVE = 1
export const BYTES = 2
export const TEXT = 3
export const LIST = 4
export const MAP = 5
export const TAG = 6
export const PRIMITIVE = 7

/** Kubernetes' names of the types in messages. */
export const TYPE_NAMES = [
  'positive integer',
  'negative integer',
  'byte string',
  'UTF-8 text string',
  'array',
  'map',
  'tag',
  'primitives',
] as const

export const FALSE = 20
export const TRUE = 21
export const NULL = 22
export const FLOAT16 = 25
export const FLOAT32 = 26
export const FLOAT64 = 27
/** The additional information of an item whose end is marked by a break code. */
export const INDEFINITE = 31
export const BREAK = 0xff

export interface Head {
  type: number
  /** The five bits beside the type: the argument itself, or its size. */
  info: number
  /** A length, a count, a tag number or a value; a bigint only beyond 2^53. */
  argument: number | bigint
  /** The offset after the head. */
  end: number
}

/** Reads the head at an offset. Throws if it is incomplete or its encoding is not defined. */
export function readHead(bytes: Uint8Array, at: number): Head {
  const initial = bytes[at]
  if (initial === undefined) throw endOfInput()
  const type = initial >> 5
  const info = initial & 0x1f
  if (info < 24) return { type, info, argument: info, end: at + 1 }
  if (info === INDEFINITE) {
    if (type === PRIMITIVE) throw new CodecError('malformed', 'cbor: unexpected "break" code')
    if (type >= BYTES && type <= MAP) return { type, info, argument: 0, end: at + 1 }
  }
  if (info > FLOAT64) {
    throw new CodecError('malformed', `cbor: invalid additional information ${info} for type ${TYPE_NAMES[type]}`)
  }
  const width = 1 << (info - 24)
  const end = at + 1 + width
  if (end > bytes.length) throw endOfInput()
  let argument: number | bigint = 0
  if (width < 8) for (let i = at + 1; i < end; i++) argument = argument * 256 + bytes[i]!
  else argument = readUint64(bytes, at + 1)
  if (type === PRIMITIVE && info === 24 && Number(argument) < 32) {
    throw new CodecError('malformed', `cbor: invalid simple value ${argument} for type primitives`)
  }
  return { type, info, argument, end }
}

function readUint64(bytes: Uint8Array, at: number): number | bigint {
  const exact = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at)
  return exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact
}

/** The float whose bits are the end of its head. */
export function floatOf(bytes: Uint8Array, { info, end }: Head): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  if (info === FLOAT64) return view.getFloat64(end - 8)
  if (info === FLOAT32) return view.getFloat32(end - 4)
  return halfFloat(view.getUint16(end - 2))
}

function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15))
}

export const endOfInput = (): CodecError => new CodecError('malformed', 'unexpected EOF')
