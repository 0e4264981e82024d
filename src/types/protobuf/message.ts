// Kubernetes' protobuf encoding of the built-in types, driven by the type table: a message's fields are those of the
// type by their numbers. What Go always writes is always written: fields that are no pointers, even if empty.
// Reading gives the plain value that JSON would have given; `decodeTyped` then makes of it what the server keeps.
// A codec is compiled once for each type, when the type is first met.

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
import { type MessageCodec, specialMessage } from '../special/protobuf-specials.js'
import { bareName, type FieldFacts, parseTypeRef, type TypeRef, type TypeTable } from '../type-table.js'

export { ProtobufError } from '../../codec/protobuf.js'

/** The message of a value of that type, without an envelope. */
export function encodeMessage(table: TypeTable, typeName: string, value: Value): Buffer {
  const writer = newWriter()
  messageCodec(table, typeName).write(writer, value)
  return written(writer)
}

/** The plain value that a message of that type holds. Throws a ProtobufError if it cannot be read. */
export function decodeMessage(table: TypeTable, typeName: string, bytes: Uint8Array): Value {
  return messageCodec(table, typeName).read(newReader(bytes), undefined, 0)
}

const compiled = new WeakMap<TypeTable, Map<string, MessageCodec>>()

function messageCodec(table: TypeTable, typeName: string): MessageCodec {
  let codecs = compiled.get(table)
  if (codecs === undefined) compiled.set(table, (codecs = new Map<string, MessageCodec>()))
  let codec = codecs.get(typeName)
  if (codec === undefined) {
    const codecOf = (name: string): MessageCodec => messageCodec(table, name)
    codec = specialMessage(typeName, codecOf) ?? structCodec(table, typeName)
    codecs.set(typeName, codec)
  }
  return codec
}

// ---- messages of fields

interface FieldCodec {
  readonly number: number
  readonly name: string
  readonly write: (writer: Writer, object: ValueObject) => void
  readonly read: (reader: Reader, wire: number, object: ValueObject, depth: number) => void
}

function structCodec(table: TypeTable, typeName: string): MessageCodec {
  const message = bareName(typeName)
  // Types refer to each other and to themselves: fields are compiled when the first value comes.
  let fields: readonly FieldCodec[] | undefined
  let byNumber: ReadonlyMap<number, FieldCodec> = new Map()
  const compileFields = (): readonly FieldCodec[] => {
    const codecs = table
      .type(typeName)
      .facts.fields.flatMap(facts =>
        facts.number === undefined ? [] : [fieldCodec(table, typeName, facts, facts.number)],
      )
    byNumber = new Map(codecs.map(field => [field.number, field]))
    // Last first, since messages are written from their end.
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

/** Far beyond what any type reaches that does not contain itself. */
const MAX_DEPTH = 1000

function fieldCodec(table: TypeTable, typeName: string, facts: FieldFacts, number: number): FieldCodec {
  if (facts.name === undefined) return inlinedField(table, facts.type, number)
  const { name } = facts
  const type = parseTypeRef(facts.type)
  if (type.is === 'list') {
    return WRAPPED_LISTS.has(`${typeName} ${name}`)
      ? wrappedListField(name, number)
      : listField(table, name, number, type.of)
  }
  if (type.is === 'map') return mapField(table, name, number, type.of)
  const item = itemCodec(table, type)
  const optional = facts.pointer === true || type.is === 'bytes'
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

/** What JSON shows among the other fields is a message of its own in protobuf. */
function inlinedField(table: TypeTable, typeName: string, number: number): FieldCodec {
  const codec = messageCodec(table, typeName)
  const name = bareName(typeName)
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

function listField(table: TypeTable, name: string, number: number, of: TypeRef): FieldCodec {
  const item = itemCodec(table, of)
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
        // Numbers may come packed into one field, though Kubernetes does not write them so.
        const packed = readMessage(reader)
        while (packed.at < packed.end) list.push(item.read(packed, undefined, depth + 1))
        return
      }
      checkWire(wire, item.wire, name)
      list.push(item.read(reader, undefined, depth + 1))
    },
  }
}

function mapField(table: TypeTable, name: string, number: number, of: TypeRef): FieldCodec {
  const item = of.is === 'list' ? STRINGS : itemCodec(table, of)
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
  /** Null stands for what is not set. */
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

function itemCodec(table: TypeTable, type: TypeRef): ItemCodec {
  switch (type.is) {
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
    case 'type': {
      const codec = messageCodec(table, type.name)
      return {
        wire: BYTES,
        write: (writer, value) => writeMessage(writer, () => codec.write(writer, value)),
        read: (reader, into, depth) => codec.read(readMessage(reader), into, depth),
      }
    }
    default:
      throw new Error(`protobuf has no form for a ${type.is} in a list`)
  }
}

const writeInteger = (writer: Writer, value: Value): void =>
  writeVarint(writer, typeof value === 'number' || typeof value === 'bigint' ? value : 0)
