// Documents in protobuf, with gnostic's messages, which Go clients decode faster than JSON. Values without a field in
// those messages (extensions, examples, enumerations) are included as YAML text.

import { decodeJson, encodeJson } from '../../codec/json.js'
import {
  BYTES,
  FIXED64,
  newWriter,
  VARINT,
  type Writer,
  writeDouble,
  writeMessage,
  writeString,
  writeTag,
  writeVarint,
  written,
} from '../../codec/protobuf.js'
import { encodeYaml } from '../../codec/yaml.js'
import { isNumber, isObject, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'

export const encodeV2 = (json: Buffer): Buffer => encode(DOCUMENT_V2, json)
export const encodeV3 = (json: Buffer): Buffer => encode(DOCUMENT_V3, json)

function encode(message: Message, json: Buffer): Buffer {
  const writer = newWriter(json.length)
  message(writer, decodeJson(json).value)
  return written(writer)
}

// ---- definitions of messages

/** Writes the content of a message, backwards. */
type Message = (writer: Writer, value: Value) => void

/** Writes a member of an object as one or several fields with a number. */
type Field = (writer: Writer, value: Value) => void

/** A message with a field for each known member; `extensions` is the field number for members that begin with `x-`. */
function object(fields: () => Readonly<Record<string, Field>>, extensions?: number): Message {
  let cached: ReadonlyMap<string, Field> | undefined
  return (writer, value) => {
    if (!isObject(value)) return
    cached ??= new Map(Object.entries(fields()))
    for (const [name, member] of Object.entries(value).toReversed()) {
      const field = cached.get(name)
      if (field) field(writer, member)
      else if (extensions !== undefined && name.startsWith('x-')) one(extensions, named(name, anything))(writer, member)
    }
  }
}

/** A map: a sequence of entries with name and value. */
const entries =
  (number: number, message: Message): Message =>
  (writer, value) => {
    if (!isObject(value)) return
    for (const [name, member] of Object.entries(value).toReversed()) one(number, named(name, message))(writer, member)
  }

const named =
  (name: string, message: Message): Message =>
  (writer, value) => {
    one(2, message)(writer, value)
    text(1)(writer, name)
  }

const one =
  (number: number, message: Message): Field =>
  (writer, value) => {
    writeMessage(writer, () => message(writer, value))
    writeTag(writer, number, BYTES)
  }

const each =
  (field: Field): Field =>
  (writer, value) => {
    for (const item of (Array.isArray(value) ? value : [value]).toReversed()) field(writer, item)
  }

const text =
  (number: number): Field =>
  (writer, value) => {
    if (typeof value !== 'string') return
    writeString(writer, value)
    writeTag(writer, number, BYTES)
  }

const flag =
  (number: number): Field =>
  (writer, value) => {
    writeVarint(writer, value === true ? 1 : 0)
    writeTag(writer, number, VARINT)
  }

const complete =
  (number: number): Field =>
  (writer, value) => {
    writeVarint(writer, value instanceof WholeFloat ? value.value : (value as number | bigint))
    writeTag(writer, number, VARINT)
  }

const real =
  (number: number): Field =>
  (writer, value) => {
    writeDouble(writer, value instanceof WholeFloat ? value.value : Number(value))
    writeTag(writer, number, FIXED64)
  }

/**
 * Any value, as YAML whose lines are not folded. One that is nested deeply is written as JSON, which is YAML too: with every
 * line indented, 50 KB that are nested 9,000 deep would become 77 MB.
 */
const anything: Message = (writer, value) =>
  text(2)(writer, isDeeper(value, MAX_INDENTED) ? encodeJson(value) : encodeYaml(value, Infinity))

const MAX_INDENTED = 20

const isDeeper = (value: Value, levels: number): boolean => {
  if (typeof value !== 'object' || value === null || value instanceof WholeFloat) return false
  return levels === 0 || Object.values(value).some(member => isDeeper(member, levels - 1))
}

const isReference = (value: Value): value is ValueObject => isObject(value) && typeof value['$ref'] === 'string'

const REFERENCE = object(() => ({ $ref: text(1) }))

/** One of two fields, depending on the value. */
const orReference =
  (message: Message): Message =>
  (writer, value) =>
    isReference(value) ? one(2, REFERENCE)(writer, value) : one(1, message)(writer, value)

const orBoolean =
  (message: Message): Message =>
  (writer, value) =>
    typeof value === 'boolean' ? flag(2)(writer, value) : one(1, message)(writer, value)

const wrapped = (number: number, message: Message): Message => one(number, message)

// ---- both versions

const EXTERNAL_DOCS = object(() => ({ description: text(1), url: text(2) }), 3)

// ---- version 2

const SCHEMA_V2: Message = object(
  () => ({
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: one(5, anything),
    multipleOf: real(6),
    maximum: real(7),
    exclusiveMaximum: flag(8),
    minimum: real(9),
    exclusiveMinimum: flag(10),
    maxLength: complete(11),
    minLength: complete(12),
    pattern: text(13),
    maxItems: complete(14),
    minItems: complete(15),
    uniqueItems: flag(16),
    maxProperties: complete(17),
    minProperties: complete(18),
    required: each(text(19)),
    enum: each(one(20, anything)),
    additionalProperties: one(21, orBoolean(SCHEMA_V2)),
    type: one(22, each(text(1))),
    items: one(23, wrapped(1, SCHEMA_V2)),
    allOf: each(one(24, SCHEMA_V2)),
    properties: one(25, entries(1, SCHEMA_V2)),
    externalDocs: one(29, EXTERNAL_DOCS),
    example: one(30, anything),
  }),
  31,
)

const BODY_V2 = object(
  () => ({ description: text(1), name: text(2), in: text(3), required: flag(4), schema: one(5, SCHEMA_V2) }),
  6,
)
const QUERY_V2 = object(
  () => ({ required: flag(1), in: text(2), description: text(3), name: text(4), type: text(6), uniqueItems: flag(20) }),
  23,
)
const PATH_V2 = object(
  () => ({ required: flag(1), in: text(2), description: text(3), name: text(4), type: text(5), uniqueItems: flag(19) }),
  22,
)

const PARAMETER_V2: Message = (writer, value) => {
  const location = isObject(value) ? value['in'] : undefined
  if (location === 'body') one(1, BODY_V2)(writer, value)
  else one(2, location === 'path' ? wrapped(4, PATH_V2) : wrapped(3, QUERY_V2))(writer, value)
}

const PARAMETERS_V2 = orReference(PARAMETER_V2)

const RESPONSE_V2 = object(() => ({ description: text(1), schema: one(2, wrapped(1, SCHEMA_V2)) }), 5)

const OPERATION_V2 = object(
  () => ({
    tags: each(text(1)),
    description: text(3),
    operationId: text(5),
    produces: each(text(6)),
    consumes: each(text(7)),
    parameters: each(one(8, PARAMETERS_V2)),
    responses: one(9, entries(1, orReference(RESPONSE_V2))),
    schemes: each(text(10)),
    deprecated: flag(11),
  }),
  13,
)

const PATH_ITEM_V2 = object(
  () => ({
    get: one(2, OPERATION_V2),
    put: one(3, OPERATION_V2),
    post: one(4, OPERATION_V2),
    delete: one(5, OPERATION_V2),
    options: one(6, OPERATION_V2),
    head: one(7, OPERATION_V2),
    patch: one(8, OPERATION_V2),
    parameters: each(one(9, PARAMETERS_V2)),
  }),
  10,
)

const API_KEY_V2 = object(() => ({ type: text(1), name: text(2), in: text(3), description: text(4) }), 5)
const REQUIREMENT = entries(1, each(text(1)))

const DOCUMENT_V2: Message = object(
  () => ({
    swagger: text(1),
    info: one(
      2,
      object(() => ({ title: text(1), version: text(2) })),
    ),
    paths: one(8, entries(2, PATH_ITEM_V2)),
    definitions: one(9, entries(1, SCHEMA_V2)),
    parameters: one(10, entries(1, PARAMETER_V2)),
    security: each(one(12, REQUIREMENT)),
    securityDefinitions: one(13, entries(1, wrapped(2, API_KEY_V2))),
  }),
  16,
)

// ---- version 3

const SCHEMA_V3: Message = object(
  () => ({
    nullable: flag(1),
    externalDocs: one(6, EXTERNAL_DOCS),
    example: one(7, anything),
    title: text(9),
    multipleOf: real(10),
    maximum: real(11),
    exclusiveMaximum: flag(12),
    minimum: real(13),
    exclusiveMinimum: flag(14),
    maxLength: complete(15),
    minLength: complete(16),
    pattern: text(17),
    maxItems: complete(18),
    minItems: complete(19),
    uniqueItems: flag(20),
    maxProperties: complete(21),
    minProperties: complete(22),
    required: each(text(23)),
    enum: each(one(24, anything)),
    type: text(25),
    allOf: each(one(26, SCHEMA_OR_REFERENCE)),
    oneOf: each(one(27, SCHEMA_OR_REFERENCE)),
    anyOf: each(one(28, SCHEMA_OR_REFERENCE)),
    not: one(29, SCHEMA_V3),
    items: one(30, wrapped(1, SCHEMA_OR_REFERENCE)),
    properties: one(31, entries(1, SCHEMA_OR_REFERENCE)),
    additionalProperties: one(32, orBoolean(SCHEMA_OR_REFERENCE)),
    default: one(33, DEFAULT_V3),
    description: text(34),
    format: text(35),
  }),
  36,
)

const SCHEMA_OR_REFERENCE: Message = orReference(SCHEMA_V3)

/** There are no fields for objects and lists. */
const DEFAULT_V3: Message = (writer, value) => {
  if (isNumber(value)) real(1)(writer, value)
  else if (typeof value === 'boolean') flag(2)(writer, value)
  else if (typeof value === 'string') text(3)(writer, value)
}

const PARAMETER_V3 = object(
  () => ({ name: text(1), in: text(2), description: text(3), required: flag(4), schema: one(10, SCHEMA_OR_REFERENCE) }),
  14,
)

const MEDIA_TYPES_V3 = entries(
  1,
  object(() => ({ schema: one(1, SCHEMA_OR_REFERENCE) }), 5),
)
const BODY_V3 = object(() => ({ description: text(1), content: one(2, MEDIA_TYPES_V3), required: flag(3) }), 4)
const RESPONSE_V3 = object(() => ({ description: text(1), content: one(3, MEDIA_TYPES_V3) }), 5)

const OPERATION_V3 = object(
  () => ({
    tags: each(text(1)),
    description: text(3),
    operationId: text(5),
    parameters: each(one(6, orReference(PARAMETER_V3))),
    requestBody: one(7, orReference(BODY_V3)),
    responses: one(8, entries(2, orReference(RESPONSE_V3))),
    deprecated: flag(10),
  }),
  13,
)

const PATH_ITEM_V3 = object(
  () => ({
    get: one(4, OPERATION_V3),
    put: one(5, OPERATION_V3),
    post: one(6, OPERATION_V3),
    delete: one(7, OPERATION_V3),
    options: one(8, OPERATION_V3),
    head: one(9, OPERATION_V3),
    patch: one(10, OPERATION_V3),
    parameters: each(one(13, orReference(PARAMETER_V3))),
  }),
  14,
)

const SECURITY_V3 = object(() => ({ type: text(1), description: text(2), name: text(3), in: text(4) }), 9)

const DOCUMENT_V3: Message = object(
  () => ({
    openapi: text(1),
    info: one(
      2,
      object(() => ({ title: text(1), version: text(6) })),
    ),
    paths: one(4, entries(1, PATH_ITEM_V3)),
    components: one(
      5,
      object(() => ({
        schemas: one(1, entries(1, SCHEMA_OR_REFERENCE)),
        securitySchemes: one(7, entries(1, orReference(SECURITY_V3))),
      })),
    ),
  }),
  9,
)
