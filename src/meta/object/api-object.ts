// An object of the API, and replacing its metadata.
import type { ValueObject } from '../values/value.js'
import { type ObjectMeta, orderedMeta, withMeta } from './object-meta.js'

/** An object of the API: `apiVersion`, `kind` and `metadata` exist and have their types. */
export interface ApiObject extends ValueObject {
  apiVersion: string
  kind: string
  metadata: ValueObject
}

/** The object with other metadata, whose members are put into the order in which they are printed. */
export const setMeta = (object: ApiObject, meta: ObjectMeta): ApiObject =>
  withMeta(object, orderedMeta(meta)) as ApiObject
