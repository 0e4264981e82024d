// Decodes CBOR as the API server does: byte strings are strings, tags for a text encoding are applied, time tags become
// RFC 3339, and a map with a duplicate key is refused.
import { isUtf8 } from 'node:buffer'
import { quote } from '../../meta/go/go-text.js'
import { setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { CodecError } from '../codec-error.js'
import type { Decoded } from '../decoded.js'
import { asBuffer, decodeUtf8 } from '../utf8.js'
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
} from './heads.js'
import { type CborMarks, type CborStringKind, type ForeignKey, markString, newCborMarks } from './marks.js'
import { formatEpoch, formatRfc3339 } from './times.js'
import { type CborLimits, checkWellFormed } from './wellformed.js'

/** Decodes exactly one CBOR data item, with or without the self-described tag. Throws a CodecError. */
export function decodeCbor(bytes: Uint8Array, limits: CborLimits = {}): Decoded {
  checkWellFormed(bytes, limits)
  return { value: new Reader(bytes).value(), duplicates: [] }
}

/**
 * Decodes for a known target type, which then decides what is valid. Integers may be beyond 64 bits, times stay strings
 * or numbers as encoded, and keys that are not strings are left out but recorded in the marks.
 */
export function decodeCborForType(bytes: Uint8Array): Decoded & { readonly cbor: CborMarks } {
  checkWellFormed(bytes, {})
  const cbor = newCborMarks()
  return { value: new Reader(bytes, cbor).value(), duplicates: [], cbor }
}

/** Kubernetes' name for the type of a well-formed item inside its tags: `array`, `byte string`, `primitives` … */
export function cborTypeName(bytes: Uint8Array): string {
  let head = readHead(bytes, 0)
  while (head.type === TAG) head = readHead(bytes, head.end)
  return TYPE_NAMES[head.type]!
}

type TextEncoding = 'base64url' | 'base64' | 'hex'
/** Tags that define how a byte string is written as text (RFC 8949, section 3.4.5.2). */
const LATER_ENCODINGS: ReadonlyMap<number | bigint, TextEncoding> = new Map([
  [21, 'base64url'],
  [22, 'base64'],
  [23, 'hex'],
])
const TIME_TEXT = 0
const TIME_EPOCH = 1

/** Reads bytes that were checked to be well formed, which also bounds the depth of its recursion. */
class Reader {
  private at = 0
  private encoding: TextEncoding | undefined
  /** How the last decoded string was encoded, if that must be marked. */
  private stringKind: CborStringKind | undefined

  constructor(
    private readonly bytes: Uint8Array,
    private readonly marks?: CborMarks,
  ) {}

  value(): Value {
    const head = this.head()
    this.stringKind = undefined
    switch (head.type) {
      case POSITIVE:
      case NEGATIVE:
        return this.marks === undefined ? int64(head) : integer(head)
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
      this.stringKind = 'text'
      return asBuffer(content).toString('utf8')
    }
    if (this.encoding === undefined) return decodeUtf8(content)
    if (this.marks !== undefined) this.stringKind = { base64: asBuffer(content).toString('base64') }
    return asBuffer(content).toString(this.encoding)
  }

  private content({ info, argument }: Head): Uint8Array {
    if (info !== INDEFINITE) {
      const start = this.at
      this.at += Number(argument)
      return this.bytes.subarray(start, this.at)
    }
    return this.joinedChunks()
  }

  /** Chunks may be very many, and empty: none of them becomes an object. */
  private joinedChunks(): Uint8Array {
    const start = this.at
    let length = 0
    while (!this.atBreak()) {
      const { argument, end } = readHead(this.bytes, this.at)
      length += Number(argument)
      this.at = end + Number(argument)
    }
    const joined = Buffer.allocUnsafe(length)
    for (let at = start, to = 0; to < length; ) {
      const { argument, end } = readHead(this.bytes, at)
      at = end + Number(argument)
      for (let i = end; i < at; i++) joined[to++] = this.bytes[i]!
    }
    return joined
  }

  private list({ info, argument }: Head): Value[] {
    const list: Value[] = []
    const count = info === INDEFINITE ? Number.POSITIVE_INFINITY : Number(argument)
    for (let i = 0; i < count; i++) {
      if (info === INDEFINITE && this.atBreak()) break
      list.push(this.value())
      this.mark(list, i)
    }
    this.stringKind = undefined
    return list
  }

  private map({ info, argument }: Head): ValueObject {
    const object: ValueObject = {}
    const keys: (string | ForeignKey)[] = []
    const count = info === INDEFINITE ? Number.POSITIVE_INFINITY : Number(argument)
    for (let i = 0; i < count; i++) {
      if (info === INDEFINITE && this.atBreak()) break
      const key = this.key()
      const value = this.value()
      if (this.marks !== undefined) keys.push(key)
      if (typeof key !== 'string') continue
      if (Object.hasOwn(object, key)) {
        throw unacceptable(`cbor: found duplicate map key "${key}" at map element index ${i}`)
      }
      setOwn(object, key, value)
      this.mark(object, key)
    }
    this.marks?.keys.set(object, keys)
    this.stringKind = undefined
    return object
  }

  private mark(holder: object, key: string | number): void {
    if (this.stringKind !== undefined && this.marks !== undefined) markString(this.marks, holder, key, this.stringKind)
  }

  /** A key is a text or byte string; null is the empty key. */
  private key(): string | ForeignKey {
    let start = this.at
    let head = this.head()
    while (head.type === TAG) {
      start = this.at
      head = this.head()
    }
    if (head.type === BYTES || head.type === TEXT) return this.string(head)
    if (head.type === PRIMITIVE && this.primitive(head) === null) return ''
    if (this.marks !== undefined) {
      this.at = start
      this.value()
      return { type: TYPE_NAMES[head.type]! }
    }
    throw unacceptable(`cbor: cannot unmarshal ${TYPE_NAMES[head.type]} into Go value of type string`)
  }

  private tagged({ argument }: Head): Value {
    if (this.marks === undefined && (argument === TIME_TEXT || argument === TIME_EPOCH)) return this.time()
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
        return formatEpoch(Number(int64(head)))
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
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

function int64(head: Head): number | bigint {
  const exact = integer(head)
  if (typeof exact === 'bigint' && BigInt.asIntN(64, exact) !== exact) {
    const where = `into Go value of type int64 (${exact} overflows Go's int64)`
    throw unacceptable(`cbor: cannot unmarshal ${TYPE_NAMES[head.type]} ${where}`)
  }
  return exact
}

const unacceptable = (message: string): CodecError => new CodecError('unacceptable', message)
