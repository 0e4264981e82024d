// Kubernetes' protobuf encoding of the built-in types: the fields of a message are those of the type by their numbers.
// Like Go, it writes all fields that are no pointers, even if they are empty. Reading gives the same plain value as
// JSON, which `decodeTyped` then decodes. A codec is compiled once for each type, when it is first used.

import type { InternedParts } from '../../codec/json.js'
import {
  BYTES,
  FIXED64,
  newReader,
  newWriter,
  ProtobufError,
  type Reader,
  readBool,
  readBytes,
  readDouble,
  readInt32,
  readInt64,
  readMessage,
  readString,
  readTag,
  skipField,
  VARINT,
  type Writer,
  writeBytes,
  writeDouble,
  writeMessage,
  writeString,
  writeTag,
  writeVarint,
  written,
} from '../../codec/protobuf.js'
import { compareTexts } from '../../meta/go/go-text.js'
import { getOwn, isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { bareName, compiledOnce, type Field, type Type } from '../type.js'
import type { MessageCodec } from './message-codec.js'

export { ProtobufError } from '../../codec/protobuf.js'

/** The message of a value of the type, without an envelope. */
export function encodeMessage(type: Type, value: Value, parts?: InternedParts): Buffer {
  const writer = newWriter(undefined, parts)
  messageCodec(type).write(writer, value)
  return written(writer)
}

/** Encodes the items of a list field one by one; the field comes after those that are encoded before. */
export function itemEncoder(type: Type, name: string): (item: Value) => Buffer {
  const field = type.fields.get(name)!
  const codec = fieldCodec(type, field, field.go!.spec.number!)
  return item => {
    const writer = newWriter()
    codec.write(writer, { [name]: [item] })
    return written(writer)
  }
}

/** The plain value that a message of the type holds. Throws a ProtobufError if it cannot be read. */
export const decodeMessage = (type: Type, bytes: Uint8Array, parts?: InternedParts): Value =>
  messageCodec(type).read(newReader(bytes, parts), undefined, 0)

const messageCodec = compiledOnce(
  (type: Type): MessageCodec =>
    type.special?.message(name => messageCodec(type.types.byName(name))) ?? structCodec(type),
)

// ---- messages of fields

interface FieldCodec {
  readonly number: number
  readonly name: string
  readonly write: (writer: Writer, object: ValueObject) => void
  readonly read: (reader: Reader, wire: number, object: ValueObject, depth: number) => void
}

function structCodec(type: Type): MessageCodec {
  const message = bareName(type.name)
  // Types refer to each other and to themselves: fields are compiled for the first value.
  let fields: readonly FieldCodec[] | undefined
  let byNumber: ReadonlyMap<number, FieldCodec> = new Map()
  const compileFields = (): readonly FieldCodec[] => {
    const codecs: FieldCodec[] = []
    for (const inlined of type.go!.inlined) {
      if (inlined.number !== undefined) codecs.push(inlinedField(inlined.type, inlined.number))
    }
    for (const field of type.fields.values()) {
      const { spec, inlinedFrom } = field.go!
      if (inlinedFrom.length === 0 && spec.number !== undefined) codecs.push(fieldCodec(type, field, spec.number))
    }
    byNumber = new Map(codecs.map(field => [field.number, field]))
    // The last field first, because messages are written from their end.
    return codecs.toSorted((a, b) => b.number - a.number)
  }
  return {
    write: (writer, value) => {
      const object = isObject(value) ? value : {}
      for (const field of (fields ??= compileFields())) field.write(writer, object)
    },
    read: (reader, into, depth) => {
      fields ??= compileFields()
      if (depth > MAX_DEPTH) throw new ProtobufError('proto: messages nest too deep')
      const object: ValueObject = isObject(into) ? into : {}
      while (reader.at < reader.end) {
        const { field, wire } = readTag(reader, message)
        const known = byNumber.get(field)
        if (known === undefined) skipField(reader, wire)
        else known.read(reader, wire, object, depth)
      }
      return object
    },
  }
}

/** Far deeper than any type that does not contain itself. */
const MAX_DEPTH = 1000

function fieldCodec(owner: Type, { name, type, go }: Field, number: number): FieldCodec {
  if (type.kind === 'list') {
    return WRAPPED_LISTS.has(`${owner.name} ${name}`)
      ? wrappedListField(name, number)
      : listField(name, number, type.element!)
  }
  if (type.kind === 'map') return mapField(name, number, type.element!)
  const item = itemCodec(type)
  const optional = go!.spec.pointer === true || type.kind === 'bytes'
  return {
    number,
    name,
    write: (writer, object) => {
      const value = getOwn(object, name)
      if (optional && (value === undefined || value === null)) return
      item.write(writer, value ?? null)
      writeTag(writer, number, item.wire)
    },
    read: (reader, wire, object, depth) => {
      checkWire(wire, item.wire, name)
      setOwn(object, name, item.read(reader, getOwn(object, name), depth + 1))
    },
  }
}

/** The fields of an inlined type are a message of their own in protobuf. */
function inlinedField(type: Type, number: number): FieldCodec {
  const codec = messageCodec(type)
  const name = bareName(type.name)
  return {
    number,
    name,
    write: (writer, object) => {
      writeMessage(writer, () => codec.write(writer, object))
      writeTag(writer, number, BYTES)
    },
    read: (reader, wire, object, depth) => {
      checkWire(wire, BYTES, name)
      codec.read(readMessage(reader), object, depth + 1)
    },
  }
}

function listField(name: string, number: number, element: Type): FieldCodec {
  const item = itemCodec(element)
  return {
    number,
    name,
    write: (writer, object) => {
      const list = getOwn(object, name)
      if (!Array.isArray(list)) return
      for (let i = list.length - 1; i >= 0; i--) {
        item.write(writer, list[i]!)
        writeTag(writer, number, item.wire)
      }
    },
    read: (reader, wire, object, depth) => {
      const found = getOwn(object, name)
      const list: Value[] = Array.isArray(found) ? found : []
      if (found === undefined) setOwn(object, name, list)
      if (wire === BYTES && item.wire !== BYTES) {
        // Numbers may be packed into one field, though Kubernetes does not write them so.
        const packed = readMessage(reader)
        while (packed.at < packed.end) list.push(item.read(packed, undefined, depth + 1))
        return
      }
      checkWire(wire, item.wire, name)
      list.push(item.read(reader, undefined, depth + 1))
    },
  }
}

function mapField(name: string, number: number, element: Type): FieldCodec {
  const item = element.kind === 'list' ? STRINGS : itemCodec(element)
  return {
    number,
    name,
    write: (writer, object) => {
      const map = getOwn(object, name)
      if (!isObject(map)) return
      for (const key of Object.keys(map).toSorted((a, b) => compareTexts(b, a))) {
        writeMessage(writer, () => {
          item.write(writer, map[key]!)
          writeTag(writer, 2, item.wire)
          writeString(writer, key)
          writeTag(writer, 1, BYTES)
        })
        writeTag(writer, number, BYTES)
      }
    },
    read: (reader, wire, object, depth) => {
      checkWire(wire, BYTES, name)
      const found = getOwn(object, name)
      const map: ValueObject = isObject(found) ? found : {}
      if (found === undefined) setOwn(object, name, map)
      const entry = readMessage(reader)
      let key = ''
      let value: Value | undefined
      while (entry.at < entry.end) {
        const tag = readTag(entry, name)
        if (tag.field === 1) key = readString(entry)
        else if (tag.field === 2) value = item.read(entry, undefined, depth + 1)
        else skipField(entry, tag.wire)
      }
      // Null stands for the empty value of any type.
      setOwn(map, key, value ?? null)
    },
  }
}

/** Lists that have a Go type of their own are messages: {items: [...]}. Those in maps all do. */
const WRAPPED_LISTS: ReadonlySet<string> = new Set(['meta/v1.APIResource verbs'])

const wrappedListField = (name: string, number: number): FieldCodec => ({
  number,
  name,
  write: (writer, object) => {
    const list = getOwn(object, name)
    if (!Array.isArray(list)) return
    STRINGS.write(writer, list)
    writeTag(writer, number, BYTES)
  },
  read: (reader, wire, object, depth) => {
    checkWire(wire, BYTES, name)
    setOwn(object, name, STRINGS.read(reader, undefined, depth))
  },
})

function checkWire(wire: number, expected: number, name: string): void {
  if (wire === expected) return
  const goName = name.slice(0, 1).toUpperCase() + name.slice(1)
  throw new ProtobufError(`proto: wrong wireType = ${wire} for field ${goName}`)
}

// ---- single values

interface ItemCodec {
  readonly wire: number
  /** Null stands for a value that is not set. */
  readonly write: (writer: Writer, value: Value) => void
  readonly read: (reader: Reader, into: Value | undefined, depth: number) => Value
}

/** Strings wrapped into a message, as Go's named lists of them are. */
const STRINGS: ItemCodec = {
  wire: BYTES,
  write: (writer, value) => {
    const list = Array.isArray(value) ? value : []
    writeMessage(writer, () => {
      for (const item of list.toReversed()) {
        writeString(writer, typeof item === 'string' ? item : '')
        writeTag(writer, 1, BYTES)
      }
    })
  },
  read: reader => {
    const inner = readMessage(reader)
    const list: Value[] = []
    while (inner.at < inner.end) {
      const { field, wire } = readTag(inner, 'Items')
      if (field === 1 && wire === BYTES) list.push(readString(inner))
      else skipField(inner, wire)
    }
    return list
  },
}

function itemCodec(type: Type): ItemCodec {
  switch (type.kind) {
    case 'string':
      return {
        wire: BYTES,
        write: (writer, value) => writeString(writer, typeof value === 'string' ? value : ''),
        read: readString,
      }
    case 'bool':
      return { wire: VARINT, write: (writer, value) => writeVarint(writer, value === true ? 1 : 0), read: readBool }
    case 'int32':
      return { wire: VARINT, write: writeInteger, read: readInt32 }
    case 'int64':
      return { wire: VARINT, write: writeInteger, read: readInt64 }
    case 'float64':
      return {
        wire: FIXED64,
        write: (writer, value) => writeDouble(writer, typeof value === 'number' ? value : Number(value ?? 0)),
        read: readDouble,
      }
    case 'bytes':
      return {
        wire: BYTES,
        write: (writer, value) => writeBytes(writer, Buffer.from(typeof value === 'string' ? value : '', 'base64')),
        read: reader => readBytes(reader).toString('base64'),
      }
    case 'object':
    case 'special': {
      const codec = messageCodec(type)
      return {
        wire: BYTES,
        write: (writer, value) => writeMessage(writer, () => codec.write(writer, value)),
        read: (reader, into, depth) => codec.read(readMessage(reader), into, depth),
      }
    }
    default:
      throw new Error(`protobuf has no encoding for a ${type.kind} in a list`)
  }
}

const writeInteger = (writer: Writer, value: Value): void =>
  writeVarint(writer, typeof value === 'number' || typeof value === 'bigint' ? value : 0)
