// The types whose protobuf message is not made of their JSON fields.
import { decodeJson, encodeJson } from '../../codec/json.js'
import {
  BYTES,
  ProtobufError,
  type Reader,
  readBool,
  readBytes,
  readInt32,
  readInt64,
  readMessage,
  readString,
  readTag,
  skipField,
  VARINT,
  type Writer,
  writeBytes,
  writeMessage,
  writeString,
  writeTag,
  writeVarint,
} from '../../codec/protobuf.js'
import { isInteger, isObject, type Value } from '../../meta/values/value.js'

export interface MessageCodec {
  /** Writes the content of a message; null stands for one that is not set. */
  readonly write: (writer: Writer, value: Value) => void
  /** Reads a whole message, on top of what an earlier one of the same field gave. */
  readonly read: (reader: Reader, into: Value | undefined, depth: number) => Value
}

/** The codec of a type that has its own; `codecOf` gives those of the types within. */
export function specialMessage(
  typeName: string,
  codecOf: (typeName: string) => MessageCodec,
): MessageCodec | undefined {
  switch (typeName) {
    case 'meta/v1.Time':
      return timeCodec(seconds => `${seconds}Z`)
    case 'meta/v1.MicroTime':
      return timeCodec((seconds, nanos) => `${seconds}.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z`)
    case 'api/resource.Quantity':
      return QUANTITY
    case 'util/intstr.IntOrString':
      return INT_OR_STRING
    case 'runtime.RawExtension':
    case 'meta/v1.FieldsV1':
    case 'apiextensions/v1.JSON':
      return RAW
    case 'apiextensions/v1.JSONSchemaPropsOrArray':
    case 'apiextensions/v1.JSONSchemaPropsOrStringArray':
      return schemaOrList(codecOf, typeName.endsWith('OrStringArray'))
    case 'apiextensions/v1.JSONSchemaPropsOrBool':
      return schemaOrBool(codecOf)
    default:
      return undefined
  }
}

/** Calls back for each field of the message that may be known. */
function readFields(reader: Reader, message: string, known: (field: number, wire: number) => boolean): void {
  while (reader.at < reader.end) {
    const { field, wire } = readTag(reader, message)
    if (!known(field, wire)) skipField(reader, wire)
  }
}

/** Seconds and nanoseconds since 1970; a time that is not set has neither. A Time leaves the nanoseconds out. */
function timeCodec(print: (seconds: string, nanos: number) => string): MessageCodec {
  return {
    write: (writer, value) => {
      if (typeof value !== 'string') return
      const seconds = Date.parse(`${value.slice(0, 19)}Z`) / 1000
      const fraction = /\.([0-9]{1,9})/.exec(value)?.[1] ?? ''
      writeVarint(writer, Number(fraction.padEnd(9, '0')))
      writeTag(writer, 2, VARINT)
      writeVarint(writer, BigInt(seconds))
      writeTag(writer, 1, VARINT)
    },
    read: reader => {
      let seconds = 0
      let nanos = 0
      readFields(reader, 'Timestamp', (field, wire) => {
        if (wire !== VARINT || field > 2) return false
        if (field === 1) seconds = Number(readInt64(reader))
        else nanos = readInt32(reader)
        return true
      })
      if (seconds === 0 && nanos === 0) return null
      const millis = seconds * 1000
      if (!(millis >= FIRST_MOMENT && millis <= LAST_MOMENT)) {
        throw new ProtobufError('proto: a time must lie within the years 0 to 9999')
      }
      return print(new Date(millis).toISOString().slice(0, 19), Math.max(0, nanos))
    },
  }
}

const FIRST_MOMENT = Date.parse('0000-01-01T00:00:00Z')
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59Z')

const QUANTITY: MessageCodec = {
  write: (writer, value) => {
    writeString(writer, typeof value === 'string' ? value : '0')
    writeTag(writer, 1, BYTES)
  },
  read: reader => {
    let text = ''
    readFields(reader, 'Quantity', (field, wire) => {
      if (field !== 1 || wire !== BYTES) return false
      text = readString(reader)
      return true
    })
    return text === '' ? null : text
  },
}

const INT_OR_STRING: MessageCodec = {
  write: (writer, value) => {
    writeString(writer, typeof value === 'string' ? value : '')
    writeTag(writer, 3, BYTES)
    writeVarint(writer, isInteger(value) ? value : 0)
    writeTag(writer, 2, VARINT)
    writeVarint(writer, typeof value === 'string' ? 1 : 0)
    writeTag(writer, 1, VARINT)
  },
  read: reader => {
    let isText = false
    let number = 0
    let text = ''
    readFields(reader, 'IntOrString', (field, wire) => {
      if (field === 1 && wire === VARINT) isText = readInt64(reader) === 1
      else if (field === 2 && wire === VARINT) number = readInt32(reader)
      else if (field === 3 && wire === BYTES) text = readString(reader)
      else return false
      return true
    })
    return isText ? text : number
  },
}

/** JSON as bytes. */
const RAW: MessageCodec = {
  write: (writer, value) => {
    if (value === null) return
    writeBytes(writer, Buffer.from(encodeJson(value)))
    writeTag(writer, 1, BYTES)
  },
  read: reader => {
    let raw: Buffer | undefined
    readFields(reader, 'RawExtension', (field, wire) => {
      if (field !== 1 || wire !== BYTES) return false
      raw = readBytes(reader)
      return true
    })
    return raw === undefined || raw.length === 0 ? null : readJson(raw)
  },
}

function readJson(raw: Buffer): Value {
  try {
    return decodeJson(raw).value
  } catch (error) {
    throw new ProtobufError(error instanceof Error ? error.message : String(error))
  }
}

const SCHEMA = 'apiextensions/v1.JSONSchemaProps'

/** Field 1 is a schema, field 2 the items of the list that may stand instead. */
function schemaOrList(codecOf: (typeName: string) => MessageCodec, ofStrings: boolean): MessageCodec {
  return {
    write: (writer, value) => {
      if (Array.isArray(value)) {
        for (const item of value.toReversed()) {
          if (ofStrings) writeString(writer, typeof item === 'string' ? item : '')
          else writeMessage(writer, () => codecOf(SCHEMA).write(writer, item))
          writeTag(writer, 2, BYTES)
        }
      } else if (isObject(value)) {
        writeMessage(writer, () => codecOf(SCHEMA).write(writer, value))
        writeTag(writer, 1, BYTES)
      }
    },
    read: (reader, _into, depth) => {
      let schema: Value = null
      const list: Value[] = []
      readFields(reader, 'JSONSchemaPropsOrArray', (field, wire) => {
        if (wire !== BYTES || field > 2) return false
        if (field === 1) schema = codecOf(SCHEMA).read(readMessage(reader), undefined, depth + 1)
        else if (ofStrings) list.push(readString(reader))
        else list.push(codecOf(SCHEMA).read(readMessage(reader), undefined, depth + 1))
        return true
      })
      return list.length > 0 ? list : schema
    },
  }
}

/** Field 1 says whether anything is allowed, field 2 is the schema for it. */
const schemaOrBool = (codecOf: (typeName: string) => MessageCodec): MessageCodec => ({
  write: (writer, value) => {
    if (isObject(value)) {
      writeMessage(writer, () => codecOf(SCHEMA).write(writer, value))
      writeTag(writer, 2, BYTES)
    }
    writeVarint(writer, value === true || isObject(value) ? 1 : 0)
    writeTag(writer, 1, VARINT)
  },
  read: (reader, _into, depth) => {
    let allows = false
    let schema: Value = null
    readFields(reader, 'JSONSchemaPropsOrBool', (field, wire) => {
      if (field === 1 && wire === VARINT) allows = readBool(reader)
      else if (field === 2 && wire === BYTES) schema = codecOf(SCHEMA).read(readMessage(reader), undefined, depth + 1)
      else return false
      return true
    })
    return schema ?? allows
  },
})
