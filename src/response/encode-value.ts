// A value as bytes, in each of the encodings.

import { startTurns } from '../base/turns.js'
import { encodeCbor } from '../codec/cbor.js'
import { encodeJson, prettyJsonPieces } from '../codec/json.js'
import { encodeYaml, yamlPieces } from '../codec/yaml.js'
import { noneAcceptable, type Status, type StatusError } from '../meta/errors/status.js'
import type { ValueObject } from '../meta/values/value.js'
import { encodeObject } from '../types/protobuf.js'
import { builtinTypes } from '../types/type-table.js'
import { MEDIA_TYPES, type OutputFormat } from './output-format.js'

export function encodeValue(
  value: ValueObject,
  { encoding, pretty }: Pick<OutputFormat, 'encoding' | 'pretty'>,
): Buffer {
  switch (encoding) {
    case 'json':
      // JSON ends with a newline, indented JSON does not.
      return Buffer.from(pretty ? encodeJson(value, { pretty }) : `${encodeJson(value)}\n`)
    case 'yaml':
      return Buffer.from(encodeYaml(value))
    case 'cbor':
      return encodeCbor(value)
    case 'protobuf':
      return encodeProtobuf(value)
  }
}

/** With the envelope of Kubernetes' protobuf. */
export function encodeProtobuf(value: ValueObject): Buffer {
  const bytes = encodeObject(builtinTypes(), value)
  if (!bytes) throw noProtobuf()
  return bytes
}

/** A kind without a protobuf encoding. */
export const noProtobuf = (): StatusError => noneAcceptable(Object.values(MEDIA_TYPES))

/** The same as `encodeValue`. A long text comes in pieces, between which other requests get a turn. */
export function encodeInPieces(
  value: ValueObject,
  form: Pick<OutputFormat, 'encoding' | 'pretty'>,
): Buffer | AsyncIterable<Buffer> {
  const { encoding, pretty } = form
  const isText = encoding === 'yaml' || (encoding === 'json' && pretty)
  if (!isText) return encodeValue(value, form)
  const pieces = encoding === 'yaml' ? yamlPieces(value) : prettyJsonPieces(value)
  const first = pieces.next().value as string
  const second = pieces.next()
  return second.done === true ? Buffer.from(first) : piecesInTurns([first, second.value], pieces)
}

async function* piecesInTurns(first: readonly string[], rest: Iterable<string>): AsyncGenerator<Buffer> {
  const turns = startTurns()
  for (const piece of first) yield Buffer.from(piece)
  for (const piece of rest) {
    yield Buffer.from(piece)
    if (turns.isDue()) await turns.give()
  }
}

/** A Status consists of values only. */
export const statusValue = (status: Status): ValueObject => status as unknown as ValueObject
