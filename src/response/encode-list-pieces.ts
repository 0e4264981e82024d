// A list in YAML, CBOR or protobuf, piece by piece, as `encode-list.ts` does it for JSON. YAML is written while the list is
// read. CBOR has the number of items before them, and protobuf their length: there the list is read to its end first. A
// long list is then read a second time, so that only its first items are in memory.

import { startTurns } from '../base/turns.js'
import { encodeCborAround, encodeCborItem } from '../codec/cbor.js'
import { encodeYaml, yamlPieces } from '../codec/yaml.js'
import { stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import type { ObjectView } from '../objects/object-view.js'
import { encodeMessage, envelopeAround, itemEncoder } from '../types/protobuf.js'
import { builtinTypes } from '../types/type-table.js'
import type { ItemValue, ListShape } from './encode-list.js'
import { encodeValue, noProtobuf } from './encode-value.js'
import type { OutputFormat } from './output-format.js'

/** `pages` may be read more than once. */
type Pages = AsyncIterable<readonly ObjectView[]>

export function encodeListPieces(
  shape: ListShape,
  pages: Pages,
  encoding: Exclude<OutputFormat['encoding'], 'json'>,
): AsyncIterable<Buffer> {
  switch (encoding) {
    case 'yaml':
      return gathered(encodeYamlList(shape, pages))
    case 'cbor':
    case 'protobuf':
      return gathered(encodeMeasured(shape, pages, measuredFrame(shape, encoding), encoding))
  }
}

async function* encodeYamlList({ head, member, item, nullWhenEmpty }: ListShape, pages: Pages): AsyncGenerator<Buffer> {
  const turns = startTurns()
  const empty = `${member}: []\n`
  const text = encodeYaml({ ...head, [member]: [] })
  // The line of the items is the only one that begins so: what is below other members is indented.
  const at = text.startsWith(empty) ? 0 : text.indexOf(`\n${empty}`) + 1
  let isEmpty = true
  for await (const page of pages) {
    for (const shown of page) {
      if (isEmpty) yield Buffer.from(`${text.slice(0, at)}${member}:\n`)
      isEmpty = false
      // Items stand at the indentation of their member, as those of a list do that is alone.
      for (const piece of yamlPieces([item(shown)])) {
        yield Buffer.from(piece)
        if (turns.isDue()) await turns.give()
      }
    }
  }
  if (!isEmpty) yield Buffer.from(text.slice(at + empty.length))
  else yield Buffer.from(nullWhenEmpty ? encodeYaml({ ...head, [member]: null }) : text)
}

// ---- CBOR and protobuf

/** Encodings in which the number or the length of the items comes before them. */
type MeasuredEncoding = 'cbor' | 'protobuf'

export interface MeasuredFrame {
  /** Whether the length of all items is needed, not only their number. */
  readonly needsLength: boolean
  item(value: ValueObject): Buffer
  around(count: number, length: number): { readonly before: Buffer; readonly after: Buffer }
}

export const measuredFrame = (list: ListShape, encoding: MeasuredEncoding): MeasuredFrame =>
  encoding === 'cbor' ? cborFrame(list) : protobufFrame(list)

const cborFrame = ({ head, member }: ListShape): MeasuredFrame => ({
  needsLength: false,
  item: encodeCborItem,
  around: count => encodeCborAround(head, member, count),
})

function protobufFrame({ head, member }: ListShape): MeasuredFrame {
  const apiVersion = stringAt(head, 'apiVersion')
  const kind = stringAt(head, 'kind')
  const type = builtinTypes().ofKind(apiVersion, kind)
  if (type === undefined) throw noProtobuf()
  const start = encodeMessage(type, head)
  return {
    needsLength: true,
    item: itemEncoder(type, member),
    around: (_, length) => {
      const { before, after } = envelopeAround(apiVersion, kind, start.length + length)
      return { before: Buffer.concat([before, start]), after }
    },
  }
}

/** So many bytes of encoded items are kept. Those of a longer list are encoded again when they are sent. */
export const KEPT_BYTES = 4 * 1024 * 1024

async function* encodeMeasured(
  { head, member, item, nullWhenEmpty }: ListShape,
  pages: Pages,
  frame: MeasuredFrame,
  encoding: MeasuredEncoding,
): AsyncGenerator<Buffer> {
  const turns = startTurns()
  const kept: Buffer[] = []
  let keptBytes = 0
  let count = 0
  let length = 0
  for await (const page of pages) {
    for (const shown of page) {
      const isKept = kept.length === count && keptBytes < KEPT_BYTES
      count++
      if (isKept || frame.needsLength) {
        const bytes = frame.item(item(shown))
        length += bytes.length
        if (isKept) keptBytes += kept.push(bytes) && bytes.length
      }
      if (turns.isDue()) await turns.give()
    }
  }
  if (count === 0) {
    yield encodeValue({ ...head, [member]: nullWhenEmpty ? null : [] }, { encoding, pretty: false })
    return
  }
  const { before, after } = frame.around(count, length)
  yield before
  yield* kept
  const sent = kept.length
  kept.length = 0
  if (count > sent) yield* encodeRest(pages, sent, { count, length: length - keptBytes }, frame, item)
  yield after
}

/** The items after the first ones, which were sent. What the response has announced must come. */
async function* encodeRest(
  pages: Pages,
  first: number,
  announced: { readonly count: number; readonly length: number },
  frame: MeasuredFrame,
  item: ItemValue,
): AsyncGenerator<Buffer> {
  const turns = startTurns()
  let count = 0
  let length = 0
  for await (const page of pages) {
    for (const shown of page) {
      if (++count <= first) continue
      const bytes = frame.item(item(shown))
      length += bytes.length
      yield bytes
      if (turns.isDue()) await turns.give()
    }
  }
  if (count !== announced.count || (frame.needsLength && length !== announced.length)) {
    throw new Error('a list has changed while it was sent')
  }
}

// ---- pieces

const PIECE = 64 * 1024

/** Fewer and larger pieces. */
async function* gathered(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    waiting.push(piece)
    size += piece.length
    if (size < PIECE) continue
    yield waiting.length === 1 ? piece : Buffer.concat(waiting, size)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting, size)
}
