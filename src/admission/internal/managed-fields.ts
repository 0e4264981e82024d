// managedFields that a mutating plugin has broken are put back: an old webhook may drop or garble what it does not know.

import { managedFieldsError } from '../../apply/field-manager.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { Attributes } from '../attributes.js'

/** The object after admission, with the managedFields from before it if its own are not valid. */
export function withValidManagedFields({ object: before, request }: Attributes, after: ApiObject): ApiObject {
  const { managedFields } = metaOf(after)
  const original = before && metaOf(before).managedFields
  if (!managedFields || managedFields === original) return after
  const { managedFields: _, ...meta } = metaOf(after)
  // An empty list is decoded as one empty entry: nothing is owned any more.
  if (managedFields.every(entry => Object.keys(entry).length === 0)) return setMeta(after, meta)
  const error = managedFieldsError(managedFields)
  if (error === undefined) return after
  request.warn(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${error}`,
  )
  return setMeta(after, original ? { ...meta, managedFields: original } : meta)
}
