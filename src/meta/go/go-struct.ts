// Values read into a Go struct: what the reference server does with every typed part of the API, metadata among them.
// A type is described as data; decoding gives the value as the struct would print it, the fields that the struct does
// not have, or the message of the first thing that does not fit.

import { failed, parsed, type Result } from '../../base/result.js'
import { base64Error } from '../values/base64.js'
import { parseQuantity, printQuantity } from '../values/quantity.js'
import { parseDuration, parseMicroTime, parseTime, printDuration } from '../values/time.js'
import { getOwn, isNumber, isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../values/value.js'
import { compareTexts, MAX_INT64, printJson, printNumber } from './go-text.js'

export type GoType =
  /** `name` as messages print it: `string`, `types.UID`. */
  | { readonly kind: 'string'; readonly name: string }
  | { readonly kind: 'bool' }
  | { readonly kind: 'int32' | 'int64' }
  | { readonly kind: 'float64' }
  | { readonly kind: 'time' | 'microTime' | 'duration' }
  | { readonly kind: 'intOrString' | 'quantity' }
  /** Base64 in JSON. */
  | { readonly kind: 'bytes' }
  | { readonly kind: 'list'; readonly of: GoType }
  | { readonly kind: 'map'; readonly of: GoType }
  | GoStruct
  /** Taken as it is. */
  | { readonly kind: 'any' }

export interface GoStruct {
  readonly kind: 'struct'
  /** With its package: `v1.ObjectMeta`. */
  readonly name: string
  /** In the order in which Go prints them. */
  readonly fields: Readonly<Record<string, GoField>>
}

export interface GoField {
  readonly type: GoType
  /** Printed even when empty. */
  readonly always?: boolean
  /** A pointer: false and 0 are not the same as nothing. */
  readonly pointer?: boolean
  /** The embedded struct that the field comes from, which messages name on the way to it. */
  readonly via?: string
}

export interface DecodeOptions {
  /** Look at members in the order of their names, as happens to what was a map in Go before. */
  readonly sorted?: boolean
  /** Where the value stands, for the unknown fields: `metadata`. */
  readonly path?: string
}

export interface Decoded {
  readonly value: ValueObject
  /** The paths of members that the struct has no field for. */
  readonly unknown: readonly string[]
}

export const STRING: GoType = { kind: 'string', name: 'string' }
export const BOOL: GoType = { kind: 'bool' }
export const INT64: GoType = { kind: 'int64' }
export const TIME: GoType = { kind: 'time' }
export const STRINGS: GoType = { kind: 'list', of: STRING }
export const STRING_MAP: GoType = { kind: 'map', of: STRING }

/** Reads a value into a struct. Null is an empty struct. */
export function decodeStruct(struct: GoStruct, value: Value, options: DecodeOptions = {}): Result<Decoded> {
  const decoding: Decoding = { unknown: [], sorted: options.sorted ?? false }
  try {
    const decoded = decode(decoding, struct, value, { struct: '', fields: '', path: options.path ?? '' }) as ValueObject
    return parsed({ value: decoded, unknown: decoding.unknown })
  } catch (error) {
    if (error instanceof TypeMismatch) return failed(error.message)
    throw error
  }
}

/** Go's name of the JSON type of a value, as `json: cannot unmarshal …` has it. */
export function jsonTypeOf(value: Value): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isNumber(value)) return 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

interface Decoding {
  readonly unknown: string[]
  readonly sorted: boolean
}

/** Where decoding is: in which struct, along which of its fields, and by which path with indexes. */
interface Place {
  readonly struct: string
  readonly fields: string
  readonly path: string
}

class TypeMismatch extends Error {}

function decode(decoding: Decoding, type: GoType, value: Value, place: Place): Value {
  if (type.kind === 'any') return value
  if (value === null) return zero(type)
  switch (type.kind) {
    case 'string':
      return typeof value === 'string' ? value : mismatch(value, type, place)
    case 'bool':
      return typeof value === 'boolean' ? value : mismatch(value, type, place)
    case 'int32':
      return decodeInteger(value, 2n ** 31n - 1n, type, place)
    case 'int64':
      return decodeInteger(value, MAX_INT64, type, place)
    case 'float64':
      return isNumber(value) ? value : mismatch(value, type, place)
    case 'time':
    case 'microTime':
    case 'duration':
      return decodeTime(value, type, place)
    case 'intOrString':
      return typeof value === 'string' ? value : decodeInteger(value, 2n ** 31n - 1n, type, place)
    case 'quantity':
      return decodeQuantity(value)
    case 'bytes':
      return decodeBytes(value, type, place)
    case 'list':
      if (!Array.isArray(value)) return mismatch(value, type, place)
      return value.map((item, i) => decode(decoding, type.of, item, { ...place, path: `${place.path}[${i}]` }))
    case 'map':
      return decodeMap(decoding, type, value, place)
    case 'struct':
      return decodeFields(decoding, type, value, place)
  }
}

function decodeInteger(value: Value, max: bigint, type: GoType, place: Place): Value {
  if (!isNumber(value)) return mismatch(value, type, place)
  const number = value instanceof WholeFloat ? value.value : value
  if (typeof number === 'number' && !Number.isInteger(number)) return mismatch(value, type, place, printNumber(value))
  const integer = BigInt(number)
  if (integer > max || integer < -max - 1n) return mismatch(value, type, place, printNumber(value))
  return number
}

function decodeTime(value: Value, type: GoType, place: Place): Value {
  if (typeof value !== 'string') return mismatch(value, type, place)
  if (type.kind === 'duration') return printDuration(must(parseDuration(value)))
  return must(type.kind === 'time' ? parseTime(value) : parseMicroTime(value))
}

/** A quantity may be written as a number, too. What is neither is told like a text that is none. */
function decodeQuantity(value: Value): Value {
  const text = typeof value === 'string' ? value : isNumber(value) ? printJson(value) : 'x'
  return printQuantity(must(parseQuantity(text)))
}

function decodeBytes(value: Value, type: GoType, place: Place): Value {
  if (typeof value !== 'string') return mismatch(value, type, place)
  const error = base64Error(value)
  if (error !== undefined) throw new TypeMismatch(error)
  return value.replace(/[\r\n]/g, '')
}

function must<T>(read: Result<T>): T {
  if (!read.ok) throw new TypeMismatch(read.error)
  return read.value
}

function decodeMap(decoding: Decoding, type: GoType & { kind: 'map' }, value: Value, place: Place): Value {
  if (!isObject(value)) return mismatch(value, type, place)
  const map: ValueObject = {}
  for (const key of keysOf(decoding, value)) {
    setOwn(map, key, decode(decoding, type.of, value[key]!, { ...place, path: `${place.path}.${key}` }))
  }
  return map
}

function decodeFields(decoding: Decoding, struct: GoStruct, value: Value, place: Place): Value {
  if (!isObject(value)) return mismatch(value, struct, place)
  const read: ValueObject = {}
  for (const key of keysOf(decoding, value)) {
    const path = place.path === '' ? key : `${place.path}.${key}`
    if (!Object.hasOwn(struct.fields, key)) {
      decoding.unknown.push(path)
      continue
    }
    const field = struct.fields[key]!
    const fields = [place.fields, field.via, key].filter(Boolean).join('.')
    if (field.pointer && value[key] === null) continue
    setOwn(read, key, decode(decoding, field.type, value[key]!, { struct: shortName(struct), fields, path }))
  }
  return printed(struct, read)
}

/** The struct as Go prints it: fields in their order, empty ones left out. */
function printed(struct: GoStruct, read: ValueObject): ValueObject {
  const result: ValueObject = {}
  for (const [key, field] of Object.entries(struct.fields)) {
    const value = getOwn(read, key)
    if (field.always) setOwn(result, key, value ?? zero(field.type))
    else if (value !== undefined && (field.pointer || !isEmpty(value))) setOwn(result, key, value)
  }
  return result
}

const isEmpty = (value: Value): boolean =>
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && !(value instanceof WholeFloat) && Object.keys(value).length === 0)

function zero(type: GoType): Value {
  switch (type.kind) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'int32':
    case 'int64':
    case 'float64':
    case 'intOrString':
      return 0
    case 'quantity':
      return '0'
    case 'duration':
      return '0s'
    case 'struct':
      return printed(type, {})
    default:
      return null
  }
}

const keysOf = ({ sorted }: Decoding, value: ValueObject): string[] =>
  sorted ? Object.keys(value).toSorted(compareTexts) : Object.keys(value)

function mismatch(value: Value, type: GoType, place: Place, literal?: string): never {
  const found = literal === undefined ? jsonTypeOf(value) : `number ${literal}`
  const into = place.struct === '' ? 'value' : `struct field ${place.struct}.${place.fields}`
  throw new TypeMismatch(`json: cannot unmarshal ${found} into Go ${into} of type ${typeName(type)}`)
}

function typeName(type: GoType): string {
  switch (type.kind) {
    case 'string':
    case 'struct':
      return type.name
    case 'list':
      return `[]${typeName(type.of)}`
    case 'map':
      return `map[string]${typeName(type.of)}`
    // These are told by what they are read from.
    case 'time':
    case 'microTime':
    case 'duration':
    case 'quantity':
      return 'string'
    case 'intOrString':
      return 'int32'
    case 'bytes':
      return '[]uint8'
    default:
      return type.kind
  }
}

const shortName = ({ name }: GoStruct): string => name.slice(name.lastIndexOf('.') + 1)
