// Objects of the API with other metadata.
import { type ObjectMeta, orderedMeta, withMeta } from '../meta/object-meta.js'
import type { ApiObject } from './kind.js'

/** The object with other metadata, whose members come in the order in which they are printed. */
export const setMeta = (object: ApiObject, meta: ObjectMeta): ApiObject =>
  withMeta(object, orderedMeta(meta)) as ApiObject
