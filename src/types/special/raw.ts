// runtime.RawExtension, meta/v1.FieldsV1 and apiextensions/v1.JSON: JSON that is taken as it is.
import { decodeJson, encodeJson } from '../../codec/json.js'
import { BYTES, ProtobufError, readBytes, writeBytes, writeTag } from '../../codec/protobuf.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { type MessageCodec, readFields } from '../protobuf/message-codec.js'
import { printedAs, type SpecialType } from './special-type.js'

const raw = (name: string, merge: SpecialType['merge'], schema: ValueObject): SpecialType => ({
  name,
  codec: () => ({ decode: value => value, ...printedAs(null) }),
  message: () => MESSAGE,
  merge,
  cel: merge === 'atomic' ? 'object' : 'hidden',
  openapi: () => schema,
})

export const RAW_EXTENSION = raw('runtime.RawExtension', 'atomic', { type: 'object' })
export const FIELDS_V1 = raw('meta/v1.FieldsV1', 'atomic', { type: 'object' })
export const JSON_VALUE = raw('apiextensions/v1.JSON', 'any', {})

/** The JSON as bytes. */
const MESSAGE: MessageCodec = {
  write: (writer, value) => {
    if (value === null) return
    writeBytes(writer, Buffer.from(encodeJson(value)))
    writeTag(writer, 1, BYTES)
  },
  read: reader => {
    let bytes: Buffer | undefined
    readFields(reader, 'RawExtension', (field, wire) => {
      if (field !== 1 || wire !== BYTES) return false
      bytes = readBytes(reader)
      return true
    })
    return bytes === undefined || bytes.length === 0 ? null : readJson(bytes)
  },
}

function readJson(bytes: Buffer): Value {
  try {
    return decodeJson(bytes).value
  } catch (error) {
    throw new ProtobufError(error instanceof Error ? error.message : String(error))
  }
}
