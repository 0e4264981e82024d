// runtime.RawExtension, meta/v1.FieldsV1 and apiextensions/v1.JSON: JSON that is taken as it is.
import { decodeJson, encodeJson, type InternedParts } from '../../codec/json.js'
import { BYTES, ProtobufError, readBytes, writeBytes, writeTag } from '../../codec/protobuf.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { type MessageCodec, readFields } from '../protobuf/message-codec.js'
import { printedAs, type SpecialType } from './special-type.js'

const raw = (
  name: string,
  merge: SpecialType['merge'],
  schema: ValueObject,
  message: MessageCodec = messageOf(false),
): SpecialType => ({
  name,
  codec: () => ({ decode: value => value, ...printedAs(null) }),
  message: () => message,
  merge,
  cel: merge === 'atomic' ? 'object' : 'hidden',
  openapi: () => schema,
})

export const RAW_EXTENSION = raw('runtime.RawExtension', 'atomic', { type: 'object' })
/** The values of field sets are shared, where the text is known, and must not be changed. */
export const FIELDS_V1 = raw('meta/v1.FieldsV1', 'atomic', { type: 'object' }, messageOf(true))
export const JSON_VALUE = raw('apiextensions/v1.JSON', 'any', {})

/** The JSON as bytes. */
function messageOf(isShared: boolean): MessageCodec {
  return {
    write: (writer, value) => {
      if (value === null) return
      const parts = isShared && isObject(value) ? writer.parts : undefined
      writeBytes(writer, Buffer.from(parts ? parts.print(value as ValueObject) : encodeJson(value)))
      writeTag(writer, 1, BYTES)
    },
    read: reader => {
      let bytes: Buffer | undefined
      readFields(reader, 'RawExtension', (field, wire) => {
        if (field !== 1 || wire !== BYTES) return false
        bytes = readBytes(reader)
        return true
      })
      if (bytes === undefined || bytes.length === 0) return null
      return (isShared && reader.parts && knownIn(reader.parts, bytes)) || readJson(bytes)
    },
  }
}

function knownIn(parts: InternedParts, bytes: Buffer): Value | undefined {
  const text = bytes.toString()
  return parts.at(text, 0, () => text.length)?.value
}

function readJson(bytes: Buffer): Value {
  try {
    return decodeJson(bytes).value
  } catch (error) {
    throw new ProtobufError(error instanceof Error ? error.message : String(error))
  }
}
