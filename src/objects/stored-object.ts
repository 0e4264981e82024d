// The form of an object in the store: JSON in its storage version, with `apiVersion`, `kind` and `metadata` first and
// without its resourceVersion, which is the revision of the entry. So an object can be served by putting the version into
// its bytes, without parsing them.

import {
  createInternedParts,
  decodeJson,
  encodeJson,
  encodeString,
  type InternedParts,
  type InternedPosition,
  ITEMS,
} from '../codec/json.js'
import { internalError } from '../meta/errors/status.js'
import { byName } from '../meta/go/go-text.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { withHead } from '../meta/object/object-meta.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import type { Entry } from '../storage/store.js'

/** Encodes and decodes stored objects. Those of one codec share the values of their `fieldsV1`, which must not be changed. */
export interface StoredCodec {
  /** The metadata in their own order, or sorted by name as those of custom objects are. */
  encode(object: ApiObject, sortedKeys?: boolean): Buffer
  decode(entry: Entry): ApiObject
}

/** The field sets of managedFields are often larger than the rest of an object, and the same from one write to the next. */
const FIELDS: InternedPosition = { name: 'fieldsV1', within: ['metadata', 'managedFields', ITEMS] }

export function createStoredCodec(): StoredCodec {
  const parts = createInternedParts()
  const interned = { parts, at: FIELDS }
  return {
    encode: (object, sortedKeys = false) => Buffer.from(printStored(ordered(object, sortedKeys), parts)),
    decode: entry => checked(entry, decodeJson(entry.value, { floatMinusZero: true, interned }).value),
  }
}

/** The same without shared parts, for objects that are decoded once. */
export const decodeStored = (entry: Entry): ApiObject =>
  checked(entry, decodeJson(entry.value, { floatMinusZero: true }).value)

export const encodeStored = (object: ApiObject, sortedKeys = false): Buffer =>
  Buffer.from(encodeJson(ordered(object, sortedKeys)))

function ordered(object: ApiObject, sortedKeys: boolean): ValueObject {
  const { apiVersion, kind } = object
  const metadata = withoutVersion(object.metadata)
  return withHead(object, apiVersion, kind, sortedKeys ? byName(metadata) : metadata)
}

function printStored(object: ValueObject, parts: InternedParts): string {
  const metadata = object['metadata']
  const entries = isObject(metadata) ? metadata['managedFields'] : undefined
  if (!Array.isArray(entries) || entries.length === 0) return encodeJson(object)
  const marked = { ...object, metadata: { ...(metadata as ValueObject), managedFields: 0 } }
  const printed = entries.map(entry => printEntry(entry, parts)).join(',')
  return withText(encodeJson(marked), 'managedFields', `[${printed}]`)
}

function printEntry(entry: Value, parts: InternedParts): string {
  const fields = isObject(entry) ? entry[FIELDS.name] : undefined
  if (!isObject(fields)) return encodeJson(entry)
  return withText(encodeJson({ ...(entry as ValueObject), [FIELDS.name]: 0 }), FIELDS.name, parts.print(fields))
}

/**
 * Puts a member that is encoded already in the place of a 0. Quotes within strings are escaped, the metadata come first in an
 * object, and nothing else in them has a member of that name that is a number.
 */
function withText(encoded: string, name: string, text: string): string {
  const at = encoded.indexOf(`"${name}":0`) + name.length + 3
  return encoded.slice(0, at) + text + encoded.slice(at + 1)
}

function withoutVersion(metadata: ValueObject): ValueObject {
  if (metadata['resourceVersion'] === undefined) return metadata
  const { resourceVersion: _, ...kept } = metadata
  return kept
}

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
