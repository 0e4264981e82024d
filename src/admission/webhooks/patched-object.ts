// The object of a webhook's patch: decoded like a body, so that unknown fields are dropped, and defaulted. In another version
// than that of the request nothing is dropped.

import { printGroupVersion } from '../../meta/group-version.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { copyValue, type Value } from '../../meta/values/value.js'
import { builtinTypes } from '../../types/type-table.js'
import { shapeTyped } from '../../types/typed-body.js'
import type { Attributes } from '../attributes.js'
import type { MatchedResource } from '../expressions/admission-request.js'

export interface PatchedObject {
  readonly decoded: ApiObject
  readonly defaulted: ApiObject
}

/** Throws a StatusError if the value is no object of the kind. */
export function decodePatched(
  { storedKind, version: requested }: Attributes,
  { kind }: MatchedResource,
  value: Value,
): PatchedObject {
  const version =
    storedKind && storedKind.names.kind === kind.kind && storedKind.group === kind.group
      ? storedKind.versions.find(({ name }) => name === kind.version)
      : undefined
  if (!version) {
    // A Scale, Binding, Eviction, TokenRequest or review.
    const { object } = shapeTyped(builtinTypes(), printGroupVersion(kind), kind.kind, value, [])
    return { decoded: object, defaulted: object }
  }
  const { strategy } = version
  // The schema of another version than that of the request must not drop fields of the request.
  const keepsAll = storedKind!.convertUnpruned && kind.version !== requested
  const { object, refused } = strategy.decode(keepsAll ? copyValue(value) : value, [])
  if (refused) throw refused
  const decoded = keepsAll ? { ...(value as ApiObject), metadata: object.metadata } : object
  return { decoded, defaulted: strategy.applyDefaults(copyValue(decoded)) }
}
