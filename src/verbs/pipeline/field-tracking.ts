// Who owns which field: every write is tracked in the object's managedFields, and an apply is carried out by them.

import { type ManagedType, managerName, trackUpdate } from '../../apply/field-manager.js'
import { managedType } from '../../apply/managed-type.js'
import type { Awaitable } from '../../base/awaitable.js'
import type { Clock } from '../../base/clock.js'
import type { KindVersion } from '../../kinds/kind.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { WriteOptions } from '../../meta/options/write-options.js'
import type { ResourceRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'

/** The object with managedFields that say what this write has set. */
export function track(
  clock: Clock,
  request: ResourceRequest<WriteOptions>,
  live: ApiObject | undefined,
  next: ApiObject,
): Awaitable<ApiObject> {
  return trackUpdate(ownershipOf(request.target), live, next, fieldManagerOf(request), clock.now())
}

export const fieldManagerOf = ({ options, userAgent }: ResourceRequest<WriteOptions>): string =>
  managerName(options.fieldManager, userAgent)

/** The object with the managedFields of another. */
export function withOwnership(object: ApiObject, tracked: ApiObject): ApiObject {
  const { managedFields } = metaOf(tracked)
  if (metaOf(object).managedFields === managedFields) return object
  const { managedFields: _, ...meta } = metaOf(object)
  return setMeta(object, managedFields ? { ...meta, managedFields } : meta)
}

const known = new WeakMap<KindVersion, Map<string, ManagedType>>()

/** What the apply room must know of what is addressed; found out once for each version. */
export function ownershipOf({ kind, version, subresource }: Target): ManagedType {
  let types = known.get(version)
  if (!types) known.set(version, (types = new Map()))
  let type = types.get(subresource)
  if (!type) types.set(subresource, (type = managedType(kind, version, subresource)))
  return type
}
