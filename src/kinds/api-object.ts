// Objects of the API with other metadata.
import { byName } from '../meta/go-text.js'
import { metaOf, type ObjectMeta, orderedMeta, withMeta } from '../meta/object-meta.js'
import type { ValueObject } from '../meta/value.js'
import type { ApiObject, Kind } from './kind.js'

/** The object with other metadata, whose members come in the order in which they are printed. */
export const setMeta = (object: ApiObject, meta: ObjectMeta): ApiObject =>
  withMeta(object, orderedMeta(meta)) as ApiObject

/** What was written, as clients are shown it: at a revision, if it has one, and in the order of its kind. */
export function asWritten({ manners }: Kind, object: ApiObject, resourceVersion: string): ApiObject {
  const meta = resourceVersion === '' ? metaOf(object) : { ...metaOf(object), resourceVersion }
  if (!manners.membersByName) return setMeta(object, meta)
  return byName({ ...object, metadata: byName(meta as ValueObject) }) as ApiObject
}
