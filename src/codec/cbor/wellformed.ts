// Checks that bytes are one complete CBOR data item within the API server's limits. Kubernetes checks this before it
// decodes any value, and the readers of items rely on it.

import { CodecError } from '../codec-error.js'
import {
  BREAK,
  BYTES,
  endOfInput,
  FLOAT16,
  floatOf,
  INDEFINITE,
  LIST,
  MAP,
  PRIMITIVE,
  readHead,
  TAG,
  TEXT,
  TYPE_NAMES,
} from './heads.js'

export interface CborLimits {
  maxDepth?: number
  maxListItems?: number
  maxMapPairs?: number
}

/** Checks that the bytes are exactly one item. */
export function checkWellFormed(bytes: Uint8Array, limits: CborLimits = {}): void {
  const end = endOfItem(bytes, 0, limits)
  if (end < bytes.length) {
    const message = `cbor: ${bytes.length - end} bytes of extraneous data starting at index ${end}`
    throw new CodecError('malformed', message, end)
  }
}

/** The offset after the item that begins at `start`. Throws a CodecError if it is not well formed. */
export function endOfItem(bytes: Uint8Array, start: number, limits: CborLimits = {}): number {
  if (start >= bytes.length) throw new CodecError('malformed', 'EOF')
  const { maxDepth = 64, maxListItems = 1024, maxMapPairs = 1024 } = limits
  return check(bytes, start, 0, { maxDepth, maxListItems, maxMapPairs })
}

// Recursion is bounded by maxDepth; lists, maps and tags count.
function check(bytes: Uint8Array, start: number, depth: number, limits: Required<CborLimits>): number {
  const head = readHead(bytes, start)
  const { type, info, argument } = head
  switch (type) {
    case BYTES:
    case TEXT:
      return info === INDEFINITE ? checkChunks(bytes, head.end, type) : endOfString(bytes, head.end, type, argument)
    case LIST:
    case MAP:
      if (depth + 1 > limits.maxDepth) throw tooDeep(limits)
      return checkItems(bytes, head.end, type, info === INDEFINITE ? undefined : argument, depth + 1, limits)
    case TAG:
      return checkTag(bytes, head.end, argument, depth, limits)
    case PRIMITIVE:
      if (info >= FLOAT16) checkFloat(floatOf(bytes, head))
  }
  return head.end
}

function endOfString(bytes: Uint8Array, start: number, type: number, length: number | bigint): number {
  if (length > MAX_INT64) throw overflow(type, length, 'causing')
  if (length > bytes.length - start) throw endOfInput()
  return start + Number(length)
}

function checkChunks(bytes: Uint8Array, start: number, type: number): number {
  let at = start
  for (;;) {
    const initial = bytes[at]
    if (initial === undefined) throw endOfInput()
    if (initial === BREAK) return at + 1
    const name = TYPE_NAMES[type]
    if (initial >> 5 !== type) {
      const wrong = TYPE_NAMES[initial >> 5]
      throw new CodecError('malformed', `cbor: wrong element type ${wrong} for indefinite-length ${name}`)
    }
    if ((initial & 0x1f) === INDEFINITE) {
      throw new CodecError('malformed', `cbor: indefinite-length ${name} chunk is not definite-length`)
    }
    const head = readHead(bytes, at)
    at = endOfString(bytes, head.end, type, head.argument)
  }
}

function checkItems(
  bytes: Uint8Array,
  start: number,
  type: number,
  count: number | bigint | undefined,
  depth: number,
  limits: Required<CborLimits>,
): number {
  const perEntry = type === MAP ? 2 : 1
  const max = type === MAP ? limits.maxMapPairs : limits.maxListItems
  let at = start
  if (count !== undefined) {
    if (count > MAX_INT64) throw overflow(type, count, 'it would cause')
    if (count > max) throw tooMany(type, max)
    for (let i = Number(count) * perEntry; i > 0; i--) at = check(bytes, at, depth, limits)
    return at
  }
  for (let i = 0; ; ) {
    if (at >= bytes.length) throw endOfInput()
    if (bytes[at] === BREAK) {
      if (i % perEntry === 1) throw new CodecError('malformed', 'cbor: unexpected "break" code')
      return at + 1
    }
    at = check(bytes, at, depth, limits)
    if (++i > max * perEntry + (perEntry - 1)) throw tooMany(type, max)
  }
}

function checkTag(
  bytes: Uint8Array,
  start: number,
  outermost: number | bigint,
  outerDepth: number,
  limits: Required<CborLimits>,
): number {
  let at = start
  let number = outermost
  let depth = outerDepth
  for (;;) {
    if (at >= bytes.length) throw endOfInput()
    if (number === 2 || number === 3) throw notAccepted('tag', 'bignum')
    if (bytes[at]! >> 5 !== TAG) return check(bytes, at, depth, limits)
    const head = readHead(bytes, at)
    number = head.argument
    at = head.end
    if (++depth > limits.maxDepth) throw tooDeep(limits)
  }
}

function checkFloat(float: number): void {
  if (Number.isNaN(float)) throw notAccepted('primitives', 'floating-point NaN')
  if (!Number.isFinite(float)) throw notAccepted('primitives', 'floating-point infinity')
}

const MAX_INT64 = 2n ** 63n - 1n

const notAccepted = (type: string, what: string): CodecError =>
  new CodecError('malformed', `cbor: data item of cbor type ${type} is not accepted by protocol: ${what}`)

const overflow = (type: number, length: number | bigint, verb: string): CodecError =>
  new CodecError('malformed', `cbor: ${TYPE_NAMES[type]} length ${length} is too large, ${verb} integer overflow`)

const tooDeep = ({ maxDepth }: Required<CborLimits>): CodecError =>
  new CodecError('malformed', `cbor: exceeded max nested level ${maxDepth}`)

const tooMany = (type: number, max: number): CodecError =>
  type === MAP
    ? new CodecError('malformed', `cbor: exceeded max number of key-value pairs ${max} for CBOR map`)
    : new CodecError('malformed', `cbor: exceeded max number of elements ${max} for CBOR array`)
