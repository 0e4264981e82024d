// The form of an object in the store: JSON in its storage version, with `apiVersion`, `kind` and `metadata` first and
// without its resourceVersion, which is the revision of the entry. So an object can be served by putting the version into
// its bytes, without parsing them.

import {
  createInternedParts,
  decodeJson,
  decodeWrittenJson,
  encodeJson,
  encodeString,
  type InternedParts,
  type InternedPosition,
  ITEMS,
} from '../codec/json.js'
import { internalError } from '../meta/errors/status.js'
import { compareTexts } from '../meta/go/go-text.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import type { Entry } from '../storage/store.js'
import { unreadable } from './unreadable.js'

/** Encodes and decodes stored objects. Those of one codec share the values of their `fieldsV1`, which must not be changed. */
export interface StoredCodec {
  /** The metadata in their own order, or sorted by name as those of custom objects are. */
  encode(object: ApiObject, sortedKeys?: boolean): Buffer
  decode(entry: Entry): ApiObject
  /** The JSON of an entry as it is. */
  parse(json: Uint8Array): Value
}

/** The field sets of managedFields are often larger than the rest of an object, and the same from one write to the next. */
const FIELDS: InternedPosition = { name: 'fieldsV1', within: ['metadata', 'managedFields', ITEMS] }

export function createStoredCodec(parts: InternedParts = createInternedParts()): StoredCodec {
  const interned = { parts, at: FIELDS }
  const parse = (bytes: Uint8Array): Value => decodeJson(bytes, { floatMinusZero: true, interned }).value
  return {
    encode: (object, sortedKeys = false) => Buffer.from(printStored(object, sortedKeys, fields => parts.print(fields))),
    decode: entry => decodeEntry(entry, parse),
    parse,
  }
}

/** The same without shared parts, for objects that are decoded once. */
export const decodeStored = (entry: Entry): ApiObject => decodeEntry(entry, decodeWrittenJson)

function decodeEntry(entry: Entry, decode: (bytes: Uint8Array) => Value): ApiObject {
  let value: Value
  try {
    value = decode(entry.value)
  } catch (error) {
    throw unreadable(entry, error)
  }
  return checked(entry, value)
}

/** The objects of those entries that can be read. */
export function decodeReadable(entries: readonly Entry[]): ApiObject[] {
  return entries.flatMap(entry => {
    try {
      return [decodeStored(entry)]
    } catch {
      return []
    }
  })
}

export const encodeStored = (object: ApiObject, sortedKeys = false): Buffer =>
  Buffer.from(printStored(object, sortedKeys, encodeJson))

type Print = (fields: ValueObject) => string

/** Member by member: copies with the members in another order would take as long as printing them. */
function printStored(object: ApiObject, sortedKeys: boolean, printFields: Print): string {
  const { apiVersion, kind, metadata } = object
  let text = `{"apiVersion":${encodeString(apiVersion)},"kind":${encodeString(kind)},"metadata":{`
  const names = Object.keys(metadata)
  if (sortedKeys) names.sort(compareTexts)
  let separator = ''
  for (const name of names) {
    const value: Value | undefined = metadata[name]
    if (name === 'resourceVersion' || value === undefined) continue
    const isManagers = name === 'managedFields' && Array.isArray(value)
    const printed = isManagers
      ? `[${value.map(entry => printManager(entry, printFields)).join(',')}]`
      : printValue(value)
    text += `${separator}${encodeString(name)}:${printed}`
    separator = ','
  }
  text += '}'
  for (const name of Object.keys(object)) {
    if (name === 'apiVersion' || name === 'kind' || name === 'metadata') continue
    const value: Value | undefined = object[name]
    if (value !== undefined) text += `,${encodeString(name)}:${printValue(value)}`
  }
  return `${text}}`
}

function printManager(entry: Value, printFields: Print): string {
  if (!isObject(entry)) return encodeJson(entry)
  let text = ''
  for (const name of Object.keys(entry)) {
    const value: Value | undefined = entry[name]
    if (value === undefined) continue
    const printed = name === FIELDS.name && isObject(value) ? printFields(value) : printValue(value)
    text += `${text === '' ? '' : ','}${encodeString(name)}:${printed}`
  }
  return `{${text}}`
}

const printValue = (value: Value): string => (typeof value === 'string' ? encodeString(value) : encodeJson(value))

function checked({ key, revision }: Entry, object: Value): ApiObject {
  if (!isObject(object) || !isObject(object['metadata'])) throw internalError(`what is stored at ${key} is no object`)
  object['metadata']['resourceVersion'] = String(revision)
  return object as ApiObject
}

/** The first bytes of every stored object of that version. */
export const storedHead = (apiVersion: string, kind: string): Buffer =>
  Buffer.from(`{"apiVersion":${encodeString(apiVersion)},"kind":${encodeString(kind)},"metadata":{`)

/** Whether stored bytes are those of an object of that version, as this server writes it. */
export const isStoredAs = ({ value }: Pick<Entry, 'value'>, head: Buffer): boolean =>
  value.length > head.length && head.compare(value, 0, head.length) === 0
