// How an object lies in the store: JSON in its storage version, `apiVersion`, `kind` and `metadata` first, without its
// resourceVersion, which is the revision of the entry. So an object can be served by putting the version into its
// bytes, without looking any further inside.

import {
  decodeJson,
  encodeJson,
  encodeMembers,
  encodeString,
  type InternedPosition,
  ITEMS,
  printPart,
} from '../codec/json.js'
import { internalError } from '../meta/errors/status.js'
import { byName } from '../meta/go/go-text.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { withHead } from '../meta/object/object-meta.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import type { Entry } from '../storage/store.js'

/** The metadata come as they are, or in the order of their names, as those of custom objects do. */
export function encodeStored(object: ApiObject, sortedKeys = false): Buffer {
  const { apiVersion, kind } = object
  const metadata = withoutVersion(object.metadata)
  const ordered = sortedKeys ? byName(metadata) : metadata
  return Buffer.from(printStored(withHead(object, apiVersion, kind, ordered)))
}

/** What says who owns which field is often larger than the rest, and the same from one write to the next. */
const FIELDS: InternedPosition = { name: 'fieldsV1', within: ['metadata', 'managedFields', ITEMS] }

function printStored(object: ValueObject): string {
  const metadata = object['metadata']
  const entries = isObject(metadata) ? metadata['managedFields'] : undefined
  if (!Array.isArray(entries) || entries.length === 0) return encodeJson(object)
  return encodeMembers(object, name =>
    name !== 'metadata'
      ? undefined
      : encodeMembers(metadata as ValueObject, each =>
          each === 'managedFields' ? `[${entries.map(printEntry).join(',')}]` : undefined,
        ),
  )
}

function printEntry(entry: Value): string {
  if (!isObject(entry)) return encodeJson(entry)
  return encodeMembers(entry, (name, member) =>
    name === FIELDS.name && isObject(member) ? printPart(member) : undefined,
  )
}

function withoutVersion(metadata: ValueObject): ValueObject {
  if (metadata['resourceVersion'] === undefined) return metadata
  const { resourceVersion: _, ...kept } = metadata
  return kept
}

export function decodeStored({ key, value, revision }: Entry): ApiObject {
  // An integer is never stored with a sign that it has not got.
  const { value: object } = decodeJson(value, { floatMinusZero: true, internedAt: FIELDS })
  if (!isObject(object) || !isObject(object['metadata'])) throw internalError(`what is stored at ${key} is no object`)
  object['metadata']['resourceVersion'] = String(revision)
  return object as ApiObject
}

/** What the stored bytes of every object of that version begin with. */
export const storedHead = (apiVersion: string, kind: string): Buffer =>
  Buffer.from(`{"apiVersion":${encodeString(apiVersion)},"kind":${encodeString(kind)},"metadata":{`)

/** Whether stored bytes are those of an object of that version, as we write it. */
export const isStoredAs = ({ value }: Entry, head: Buffer): boolean =>
  value.length > head.length && head.compare(value, 0, head.length) === 0
