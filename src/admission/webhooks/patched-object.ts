// The object of a webhook's patch: decoded like a body, and defaulted. Unknown fields of built-in kinds are dropped.

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
export function decodePatched({ storedKind }: Attributes, { kind }: MatchedResource, value: Value): PatchedObject {
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
  // Of custom objects, only what the storage version does not know is dropped, when the object is stored.
  const keepsAll = storedKind!.convertUnpruned
  const { object, refused } = strategy.decode(keepsAll ? copyValue(value) : value, [])
  if (refused) throw refused
  const decoded = keepsAll ? { ...(value as ApiObject), metadata: object.metadata } : object
  return { decoded, defaulted: strategy.applyDefaults(copyValue(decoded)) }
}
