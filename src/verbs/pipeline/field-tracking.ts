// Field ownership: every write is tracked in the managedFields of the object, and an apply is carried out by them.

import { type ManagedType, managerName, trackUpdate } from '../../apply/field-manager.js'
import { managedType } from '../../apply/managed-type.js'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import type { Clock } from '../../base/clock.js'
import type { KindVersion } from '../../kinds/kind.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { WriteOptions } from '../../meta/options/write-options.js'
import type { ResourceRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import { withGivenEmpty } from '../../types/given-empty.js'

export interface TrackingEnv extends Clock {
  readonly managedTypes: ManagedTypes
}

/** The object with managedFields that say what this write has set. */
export function track(
  env: TrackingEnv,
  request: ResourceRequest<WriteOptions>,
  live: ApiObject | undefined,
  next: ApiObject,
): Awaitable<ApiObject> {
  const { target } = request
  const tracking = (object: ApiObject): Awaitable<ApiObject> =>
    trackUpdate(env.managedTypes.typeOf(target), live, object, fieldManagerOf(request), env.now())
  // An empty list that is printed even if it is empty has a manager, although it is stored like none.
  const { type } = target.version
  const shown = type.dialect === 'go' ? withGivenEmpty(type, next) : next
  return shown === next
    ? tracking(next)
    : andThen(tracking(shown as ApiObject), tracked => withOwnership(next, tracked))
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

/** The types by which objects are merged and their fields tracked, one for each version and subresource. */
export interface ManagedTypes {
  typeOf(target: Target): ManagedType
}

export function createManagedTypes(): ManagedTypes {
  const types = new WeakMap<KindVersion, Map<string, ManagedType>>()
  return {
    typeOf({ kind, version, subresource }) {
      let ofVersion = types.get(version)
      if (!ofVersion) types.set(version, (ofVersion = new Map()))
      let type = ofVersion.get(subresource)
      if (!type) ofVersion.set(subresource, (type = managedType(kind, version, subresource)))
      return type
    },
  }
}
