// A whole value as bytes, in each of the encodings.
import { encodeObject } from '../../builtin/protobuf-envelope.js'
import { builtinTypes } from '../../builtin/type-table.js'
import { encodeCbor } from '../../codec/cbor-encode.js'
import { encodeJson } from '../../codec/json-encode.js'
import { encodeYaml } from '../../codec/yaml-encode.js'
import { noneAcceptable, type Status } from '../../meta/status.js'
import type { ValueObject } from '../../meta/value.js'
import { type Form, MEDIA_TYPES } from './form.js'

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
