// Objects of the API, and the same with other metadata.
import type { ValueObject } from '../values/value.js'
import { type ObjectMeta, orderedMeta, withMeta } from './object-meta.js'

/** An object of the API: `apiVersion`, `kind` and `metadata` are there and have their proper types. */
export interface ApiObject extends ValueObject {
  apiVersion: string
  kind: string
  metadata: ValueObject
}

/** The object with other metadata, whose members come in the order in which they are printed. */
export const setMeta = (object: ApiObject, meta: ObjectMeta): ApiObject =>
  withMeta(object, orderedMeta(meta)) as ApiObject
