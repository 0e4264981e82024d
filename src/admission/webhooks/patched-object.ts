// The object of a webhook's patch: decoded like a body, so that unknown fields are dropped, and defaulted.

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
  const { object: decoded, refused } = strategy.decode(value, [])
  if (refused) throw refused
  return { decoded, defaulted: strategy.applyDefaults(copyValue(decoded)) }
}
