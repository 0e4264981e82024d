// A value as bytes, in each of the encodings.

import { encodeCbor } from '../codec/cbor.js'
import { encodeJson } from '../codec/json.js'
import { encodeYaml } from '../codec/yaml.js'
import { noneAcceptable, type Status } from '../meta/errors/status.js'
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
  if (!bytes) throw noneAcceptable(Object.values(MEDIA_TYPES))
  return bytes
}

/** A Status consists of values only. */
export const statusValue = (status: Status): ValueObject => status as unknown as ValueObject
