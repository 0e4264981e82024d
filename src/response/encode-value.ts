// A whole value as bytes, in each of the encodings.

import { encodeCbor } from '../codec/cbor.js'
import { encodeJson } from '../codec/json.js'
import { encodeYaml } from '../codec/yaml.js'
import { noneAcceptable, type Status } from '../meta/errors/status.js'
import type { ValueObject } from '../meta/values/value.js'
import { encodeObject } from '../types/protobuf.js'
import { builtinTypes } from '../types/type-table.js'
import { type Form, MEDIA_TYPES } from './output-format.js'

export function encodeValue(value: ValueObject, { encoding, pretty }: Pick<Form, 'encoding' | 'pretty'>): Buffer {
  switch (encoding) {
    case 'json':
      // JSON for programs ends with a newline, JSON for people does not.
      return Buffer.from(pretty ? encodeJson(value, { pretty }) : `${encodeJson(value)}\n`)
    case 'yaml':
      return Buffer.from(encodeYaml(value))
    case 'cbor':
      return encodeCbor(value)
    case 'protobuf':
      return encodeProtobuf(value)
  }
}

/** In its envelope. */
export function encodeProtobuf(value: ValueObject): Buffer {
  const bytes = encodeObject(builtinTypes(), value)
  if (!bytes) throw noneAcceptable(Object.values(MEDIA_TYPES))
  return bytes
}

/** A Status is made of nothing but values. */
export const statusValue = (status: Status): ValueObject => status as unknown as ValueObject
