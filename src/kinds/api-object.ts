// Objects of the API with other metadata.
import { metaByName, metaOf, type ObjectMeta, orderedMeta, withMeta } from '../meta/object-meta.js'
import type { ApiObject, Kind } from './kind.js'

/** The object with other metadata, whose members come in the order in which they are printed. */
export const setMeta = (object: ApiObject, meta: ObjectMeta): ApiObject =>
  withMeta(object, orderedMeta(meta)) as ApiObject

/** What was written, as clients are shown it: at a revision, and with its metadata in the order of its kind. */
export function atRevision({ manners }: Kind, object: ApiObject, resourceVersion: string): ApiObject {
  const meta = { ...metaOf(object), resourceVersion }
  return withMeta(object, manners.metadataByName ? metaByName(meta) : orderedMeta(meta)) as ApiObject
}
