// CBOR as the API server reads it: byte strings are texts, tags that ask for a text encoding get it, time tags become
// RFC 3339, and a map that names a key twice is refused.
import { isUtf8 } from 'node:buffer'
import { quote } from '../meta/go-text.js'
import { setOwn, type Value, type ValueObject, WholeFloat } from '../meta/value.js'
import {
  BREAK,
  BYTES,
  FALSE,
  FLOAT16,
  floatOf,
  type Head,
  INDEFINITE,
  LIST,
  MAP,
  NEGATIVE,
  NULL,
  POSITIVE,
  PRIMITIVE,
  readHead,
  TAG,
  TEXT,
  TRUE,
  TYPE_NAMES,
} from './cbor-heads.js'
import { formatEpoch, formatRfc3339 } from './cbor-times.js'
import { type CborLimits, checkWellFormed } from './cbor-wellformed.js'
import { CodecError } from './codec-error.js'
import type { Decoded } from './decoded.js'
import { asBuffer, decodeUtf8 } from './utf8.js'

/** Reads one CBOR data item and nothing after it, with or without the self-described tag. Throws a CodecError. */
export function decodeCbor(bytes: Uint8Array, limits: CborLimits = {}): Decoded {
  checkWellFormed(bytes, limits)
  return { value: new Reader(bytes).value(), duplicates: [] }
}

/** What Kubernetes calls the type of a well-formed item within its tags: `array`, `byte string`, `primitives` … */
export function cborTypeName(bytes: Uint8Array): string {
  let head = readHead(bytes, 0)
  while (head.type === TAG) head = readHead(bytes, head.end)
  return TYPE_NAMES[head.type]!
}

type TextEncoding = 'base64url' | 'base64' | 'hex'
/** Tags that say how a byte string is to be written as text (RFC 8949, section 3.4.5.2). */
const LATER_ENCODINGS: ReadonlyMap<number | bigint, TextEncoding> = new Map([
  [21, 'base64url'],
  [22, 'base64'],
  [23, 'hex'],
])
const TIME_TEXT = 0
const TIME_EPOCH = 1

/** Walks over bytes that are known to be well formed, which also bounds how deep this recursion can go. */
class Reader {
  private at = 0
  private encoding: TextEncoding | undefined

  constructor(private readonly bytes: Uint8Array) {}

  value(): Value {
    const head = this.head()
    switch (head.type) {
      case POSITIVE:
      case NEGATIVE:
        return integer(head)
      case BYTES:
      case TEXT:
        return this.string(head)
      case LIST:
        return this.list(head)
      case MAP:
        return this.map(head)
      case TAG:
        return this.tagged(head)
      default:
        return this.primitive(head)
    }
  }

  private head(): Head {
    const head = readHead(this.bytes, this.at)
    this.at = head.end
    return head
  }

  private atBreak(): boolean {
    if (this.bytes[this.at] !== BREAK) return false
    this.at++
    return true
  }

  private string(head: Head): string {
    const content = this.content(head)
    if (head.type === TEXT) {
      if (!isUtf8(content)) throw unacceptable('cbor: invalid UTF-8 string')
      return asBuffer(content).toString('utf8')
    }
    return this.encoding === undefined ? decodeUtf8(content) : asBuffer(content).toString(this.encoding)
  }

  private content({ info, argument }: Head): Uint8Array {
    if (info !== INDEFINITE) {
      const start = this.at
      this.at += Number(argument)
      return this.bytes.subarray(start, this.at)
    }
    const chunks: Uint8Array[] = []
    while (!this.atBreak()) chunks.push(this.content(this.head()))
    return Buffer.concat(chunks)
  }

  private list({ info, argument }: Head): Value[] {
    const list: Value[] = []
    if (info === INDEFINITE) while (!this.atBreak()) list.push(this.value())
    else for (let i = 0; i < Number(argument); i++) list.push(this.value())
    return list
  }

  private map({ info, argument }: Head): ValueObject {
    const object: ValueObject = {}
    const count = info === INDEFINITE ? Number.POSITIVE_INFINITY : Number(argument)
    for (let i = 0; i < count; i++) {
      if (info === INDEFINITE && this.atBreak()) break
      const key = this.key()
      const value = this.value()
      if (Object.hasOwn(object, key)) {
        throw unacceptable(`cbor: found duplicate map key "${key}" at map element index ${i}`)
      }
      setOwn(object, key, value)
    }
    return object
  }

  /** A key is a string of either kind; null is the empty one. */
  private key(): string {
    let head = this.head()
    while (head.type === TAG) head = this.head()
    if (head.type === BYTES || head.type === TEXT) return this.string(head)
    if (head.type === PRIMITIVE && this.primitive(head) === null) return ''
    throw unacceptable(`cbor: cannot unmarshal ${TYPE_NAMES[head.type]} into Go value of type string`)
  }

  private tagged({ argument }: Head): Value {
    if (argument === TIME_TEXT || argument === TIME_EPOCH) return this.time()
    const outer = this.encoding
    this.encoding = LATER_ENCODINGS.get(argument) ?? outer
    const value = this.value()
    this.encoding = outer
    return value
  }

  private time(): string {
    const head = this.head()
    switch (head.type) {
      case BYTES:
      case TEXT: {
        const text = decodeUtf8(this.content(head))
        const time = formatRfc3339(text)
        if (time.ok) return time.value
        throw unacceptable(`cbor: cannot set ${head.type === BYTES ? quote(text) : text} for time.Time: ${time.error}`)
      }
      case POSITIVE:
      case NEGATIVE:
        return formatEpoch(Number(integer(head)))
      case PRIMITIVE:
        if (head.info >= FLOAT16) return formatEpoch(floatOf(this.bytes, head))
    }
    throw unacceptable(`cbor: cannot unmarshal ${TYPE_NAMES[head.type]} into Go value of type time.Time`)
  }

  private primitive(head: Head): Value {
    if (head.info >= FLOAT16) {
      const float = floatOf(this.bytes, head)
      return Number.isInteger(float) ? new WholeFloat(float) : float
    }
    if (head.argument === FALSE) return false
    if (head.argument === TRUE) return true
    if (head.argument === NULL) return null
    const what = `simple value ${head.argument} is not recognized`
    throw unacceptable(`cbor: data item of cbor type primitives is not accepted by protocol: ${what}`)
  }
}

function integer({ type, argument }: Head): number | bigint {
  if (typeof argument === 'number' && argument < Number.MAX_SAFE_INTEGER) {
    return type === POSITIVE ? argument : -1 - argument
  }
  const exact = type === POSITIVE ? BigInt(argument) : -1n - BigInt(argument)
  if (BigInt.asIntN(64, exact) !== exact) {
    const where = `into Go value of type int64 (${exact} overflows Go's int64)`
    throw unacceptable(`cbor: cannot unmarshal ${TYPE_NAMES[type]} ${where}`)
  }
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

const unacceptable = (message: string): CodecError => new CodecError('unacceptable', message)
