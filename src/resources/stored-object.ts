// How an object lies in the store: JSON in its storage version, `apiVersion`, `kind` and `metadata` first, without its
// resourceVersion, which is the revision of the entry. So an object can be served by putting the version into its
// bytes, without looking any further inside.
import { decodeJson } from '../codec/json-decode.js'
import { encodeJson, encodeString } from '../codec/json-encode.js'
import type { ApiObject } from '../kinds/kind.js'
import { byName } from '../meta/go-text.js'
import { withHead } from '../meta/object-meta.js'
import { internalError } from '../meta/status.js'
import { isObject, type ValueObject } from '../meta/value.js'
import type { Entry } from '../storage/store.js'

/** The metadata come as they are, or in the order of their names, as those of custom objects do. */
export function encodeStored(object: ApiObject, membersByName = false): Buffer {
  const { apiVersion, kind } = object
  const metadata = withoutVersion(object.metadata)
  const ordered = membersByName ? byName(metadata) : metadata
  return Buffer.from(encodeJson(withHead(object, apiVersion, kind, ordered)))
}

function withoutVersion(metadata: ValueObject): ValueObject {
  if (metadata['resourceVersion'] === undefined) return metadata
  const { resourceVersion: _, ...kept } = metadata
  return kept
}

export function decodeStored({ key, value, revision }: Entry): ApiObject {
  // An integer is never stored with a sign that it has not got.
  const { value: object } = decodeJson(value, { floatMinusZero: true })
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
