// Reads DER as strictly as Go's encoding/asn1, with its messages. An encoding that is no DER may be read as something else by
// the signer that gets it.
import { isUtf8 } from 'node:buffer'

/** What is wrong, in the words that clients see. */
export class DerError extends Error {}

const syntaxError = (what: string): DerError => new DerError(`asn1: syntax error: ${what}`)
const structureError = (what: string): DerError => new DerError(`asn1: structure error: ${what}`)

/** A place in bytes. A request may have very many elements, so that views of their bytes are created only where needed. */
export interface Element {
  /** The first byte: class, form and, if it is below 31, the number. */
  readonly tag: number
  readonly bytes: Buffer
  /** Where the tag and length begin, and the content. */
  readonly from: number
  readonly start: number
  readonly end: number
}

/** With tag and length. */
export const wholeOf = ({ bytes, from, end }: Element): Buffer => bytes.subarray(from, end)
export const contentOf = ({ bytes, start, end }: Element): Buffer => bytes.subarray(start, end)

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  id: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const

/** The element that the bytes are, and nothing after it. */
export function onlyElement(bytes: Buffer, tag: number): Element {
  const [element] = fieldsOf({ tag: 0, bytes, from: 0, start: 0, end: bytes.length }, [tag])
  if (element!.end < bytes.length) throw syntaxError('trailing data')
  return element!
}

/** The first elements of a sequence, which have these tags; undefined is any. Others may follow, as in later versions. */
export function fieldsOf({ bytes, start, end }: Element, tags: readonly (number | undefined)[]): Element[] {
  let at = start
  return tags.map(tag => {
    if (at === end) throw syntaxError('sequence truncated')
    const field = elementAt(bytes, at, end)
    if (tag !== undefined && field.tag !== tag) throw structureError("tags don't match")
    if (field.end > end) throw syntaxError('data truncated')
    at = field.end
    return field
  })
}

/** The same element as a sequence. */
export function sequenceOf(element: Element): Element {
  if (element.tag !== TAG.sequence) throw structureError("tags don't match")
  return element
}

/** All elements of a sequence or set whose elements have one tag; undefined is any. */
export function itemsOf({ bytes, start, end }: Element, tag?: number): Element[] {
  const items: Element[] = []
  for (let at = start; at < end; ) {
    const item = elementAt(bytes, at, end)
    if (tag !== undefined && item.tag !== tag) throw structureError('sequence tag mismatch')
    if (item.end > end) throw syntaxError('truncated sequence')
    items.push(item)
    at = item.end
  }
  return items
}

/** The bytes of an object identifier as hexadecimal digits. */
export function idOf({ bytes, start, end }: Element): string {
  if (start === end) throw syntaxError('zero length OBJECT IDENTIFIER')
  for (let at = start; at < end; ) at = numberAt(bytes, at, end).next
  return bytes.toString('hex', start, end)
}

/** The bytes of a bit string; unused bits at its end are 0. */
export function bitsOf(element: Element): Buffer {
  const content = contentOf(element)
  if (content.length === 0) throw syntaxError('zero length BIT STRING')
  const unused = content[0]!
  const isPadding = unused === 0 || (unused <= 7 && content.length > 1 && (content.at(-1)! & ((1 << unused) - 1)) === 0)
  if (!isPadding) throw syntaxError('invalid padding bits in BIT STRING')
  return content.subarray(1)
}

const MAX_INTEGER_BYTES = 8

export function checkInteger(element: Element): void {
  const content = contentOf(element)
  const [first, second = 0] = content
  if (first === undefined) throw structureError('empty integer')
  const isNegative = second >= 0x80
  if (content.length > 1 && ((first === 0 && !isNegative) || (first === 0xff && isNegative))) {
    throw structureError('integer not minimally-encoded')
  }
  if (content.length > MAX_INTEGER_BYTES) throw structureError('integer too large')
}

export function checkBoolean(element: Element): void {
  const content = contentOf(element)
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw syntaxError('invalid boolean')
}

// ---- strings

const TEXTS = {
  utf8: 0x0c,
  numeric: 0x12,
  printable: 0x13,
  t61: 0x14,
  ia5: 0x16,
  visible: 0x1a,
  universal: 0x1c,
  bmp: 0x1e,
}

/** A string by its type, in each of which a text has other bytes; undefined for an element of another type. */
export function textOf(element: Element): string | undefined {
  const content = contentOf(element)
  switch (element.tag) {
    case TEXTS.utf8:
      return utf8Text(content)
    case TEXTS.numeric:
      return asciiText(content, /^[0-9 ]*$/, 'NumericString')
    case TEXTS.printable:
      // The asterisk and the ampersand do not belong to it, and are found in certificates.
      return asciiText(content, /^[A-Za-z0-9'()+,\-./ :=?*&]*$/, 'PrintableString')
    case TEXTS.ia5:
      // oxlint-disable-next-line no-control-regex -- they belong to the type
      return asciiText(content, /^[\x00-\x7f]*$/, 'IA5String')
    case TEXTS.visible:
    case TEXTS.t61:
      return content.toString('latin1')
    case TEXTS.bmp:
      return bmpText(content)
    case TEXTS.universal:
      return universalText(content)
    default:
      return undefined
  }
}

function asciiText(content: Buffer, allowed: RegExp, type: string): string {
  const text = content.toString('latin1')
  if (!allowed.test(text)) throw syntaxError(`${type} contains invalid character`)
  return text
}

function utf8Text(content: Buffer): string {
  if (!isUtf8(content)) throw new DerError('asn1: invalid UTF-8 string')
  return content.toString('utf8')
}

/** Two bytes a character, high byte first; without a NUL at its end, and without halves of longer characters. */
function bmpText(content: Buffer): string {
  if (content.length % 2 !== 0) throw invalidBmp()
  const text = Buffer.from(content).swap16().toString('utf16le')
  if (/[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]/.test(text)) throw invalidBmp()
  return text.endsWith('\0') ? text.slice(0, -1) : text
}

const invalidBmp = (): DerError => new DerError('invalid BMPString')

/** Four bytes a character, high byte first. */
function universalText(content: Buffer): string | undefined {
  if (content.length % 4 !== 0) return undefined
  let text = ''
  for (let at = 0; at < content.length; at += 4) {
    const point = content.readUInt32BE(at)
    if (point > 0x10_ff_ff) return undefined
    text += String.fromCodePoint(point)
  }
  return text
}

// ---- tags and lengths

/** Longer elements than that are refused. */
const MAX_LENGTH = 2 ** 31

/** The element whose tag is at `from`. Its end may be after the limit, which the caller says in its own words. */
function elementAt(bytes: Buffer, from: number, limit: number): Element {
  const tag = bytes[from]!
  const at = (tag & 0x1f) === 0x1f ? afterLargeTag(bytes, from + 1, limit) : from + 1
  const first = byteAt(bytes, at, limit)
  if (first < 0x80) return { tag, bytes, from, start: at + 1, end: at + 1 + first }
  const count = first & 0x7f
  if (count === 0) throw syntaxError('indefinite length found (not DER)')
  let length = 0
  for (let i = 1; i <= count; i++) {
    length = length * 256 + byteAt(bytes, at + i, limit)
    if (length >= MAX_LENGTH) throw structureError('length too large')
    if (length === 0) throw structureError('superfluous leading zeros in length')
  }
  if (length < 0x80) throw structureError('non-minimal length')
  const start = at + 1 + count
  return { tag, bytes, from, start, end: start + length }
}

function byteAt(bytes: Buffer, at: number, limit: number): number {
  if (at >= limit) throw syntaxError('truncated tag or length')
  return bytes[at]!
}

function afterLargeTag(bytes: Buffer, from: number, limit: number): number {
  const { value, next } = numberAt(bytes, from, limit)
  if (value < 0x1f) throw syntaxError('non-minimal tag')
  return next
}

const MAX_NUMBER_BYTES = 5
const MAX_NUMBER = 2 ** 31 - 1

/** A number in groups of seven bits: a part of an object identifier, or a large tag. */
function numberAt(bytes: Buffer, from: number, limit: number): { readonly value: number; readonly next: number } {
  let value = 0
  for (let at = from; at < limit; at++) {
    const byte = bytes[at]!
    if (at === from && byte === 0x80) throw syntaxError('integer is not minimally encoded')
    if (at - from === MAX_NUMBER_BYTES) throw structureError('base 128 integer too large')
    value = value * 128 + (byte & 0x7f)
    if (byte >= 0x80) continue
    if (value > MAX_NUMBER) throw structureError('base 128 integer too large')
    return { value, next: at + 1 }
  }
  throw syntaxError('truncated base 128 integer')
}
