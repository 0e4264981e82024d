// JSONSchemaPropsOrArray, JSONSchemaPropsOrStringArray and JSONSchemaPropsOrBool: the places in the schema of a
// CustomResourceDefinition where a schema, a list or a boolean may stand.
import {
  BYTES,
  readBool,
  readMessage,
  readString,
  VARINT,
  writeMessage,
  writeString,
  writeTag,
  writeVarint,
} from '../../codec/protobuf.js'
import { isObject, type Value } from '../../meta/values/value.js'
import { type DecodeState, failMismatch, newDecodeState, TypedDecodeError, withinOuter } from '../go/decode-error.js'
import type { ValueCodec } from '../go/value-codec.js'
import { type MessageCodec, readFields } from '../protobuf/message-codec.js'
import { printedAs, type SpecialType } from './special-type.js'

/** kube-apiserver forgets what is neither a schema nor a list of them. */
const OMITTED_IF_NULL: Omit<ValueCodec, 'decode'> = {
  ...printedAs(null),
  isEmpty: value => value === null,
  canBeOmitted: true,
}

const SCHEMA = 'apiextensions/v1.JSONSchemaProps'

export const SCHEMA_OR_ARRAY: SpecialType = {
  name: 'apiextensions/v1.JSONSchemaPropsOrArray',
  codec: codecOf => ({ decode: schemaOr(codecOf, decodeSchemas), ...OMITTED_IF_NULL }),
  message: codecOf => schemaOrList(codecOf, false),
  merge: 'any',
  cel: 'hidden',
  openapi: () => ({}),
}

export const SCHEMA_OR_STRING_ARRAY: SpecialType = {
  name: 'apiextensions/v1.JSONSchemaPropsOrStringArray',
  codec: codecOf => ({
    decode: schemaOr(codecOf, decodeStrings),
    ...printedAs(null),
  }),
  message: codecOf => schemaOrList(codecOf, true),
  merge: 'any',
  cel: 'hidden',
  openapi: () => ({}),
}

export const SCHEMA_OR_BOOL: SpecialType = {
  name: 'apiextensions/v1.JSONSchemaPropsOrBool',
  codec: codecOf => ({ decode: schemaOr(codecOf, decodeBool), ...printedAs(false) }),
  message: codecOf => schemaOrBool(codecOf),
  merge: 'any',
  cel: 'hidden',
  openapi: () => ({}),
}

// ---- JSON

type Inner = (value: Value, schema: ValueCodec, state: DecodeState) => Value

/** Reads an object as a schema, anything else as the alternative. */
function schemaOr(codecOf: (typeName: string) => ValueCodec, alternative: Inner): ValueCodec['decode'] {
  return (value, state) => {
    const schema = codecOf(SCHEMA)
    return isObject(value) ? decodeApart(value, schema, state) : alternative(value, schema, state)
  }
}

const decodeSchemas: Inner = (value, schema, state) => {
  if (!Array.isArray(value) || value.length === 0) return null
  return value.map(item => (item === null ? schema.zero() : decodeApart(item, schema, state)))
}

const decodeStrings: Inner = (value, _schema, state) => {
  if (!Array.isArray(value)) return null
  return value.map(item => {
    if (item !== null && typeof item !== 'string') failMismatch(state, item, 'string')
    return item ?? ''
  })
}

const decodeBool: Inner = value => {
  if (typeof value === 'boolean') return value
  throw new TypedDecodeError('boolean or JSON schema expected')
}

/** Go starts a new decoder here: it reports no unknown fields, and ends the outer one at its first error. */
function decodeApart(value: Value, codec: ValueCodec, state: DecodeState): Value {
  const inner = newDecodeState(undefined, state.depth)
  const decoded = attempt(() => codec.decode(value, inner), state)
  if (inner.error !== undefined) throw new TypedDecodeError(withinOuter(state, inner.error))
  return decoded
}

function attempt(decode: () => Value, state: DecodeState): Value {
  try {
    return decode()
  } catch (error) {
    if (error instanceof TypedDecodeError) throw new TypedDecodeError(withinOuter(state, error.error))
    throw error
  }
}

// ---- protobuf

/** Field 1 is a schema, field 2 the items of the list that may stand in its place. */
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

/** Field 1 says whether anything is allowed, field 2 is the schema of what is allowed. */
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
