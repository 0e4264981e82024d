// The other resources under which the objects of a request are served, for `matchPolicy: Equivalent`.

import { type GroupVersion, type GroupVersionKind, groupVersionKind } from '../../meta/group-version.js'
import type { Attributes } from '../attributes.js'
import type { MatchedResource } from '../expressions/admission-request.js'

/** The resource in its other served versions, and in other groups that serve the same objects. */
export function equivalentResources({ storedKind, resource, version, kind }: Attributes): readonly MatchedResource[] {
  if (!storedKind) return []
  const versions = storedKind.versions
    .filter(({ name, served }) => served && name !== version)
    .map(({ name }) => ({ group: storedKind.group, version: name }))
  const others = (storedKind.alsoServedAs ?? []).map(each => groupVersionKind(each, ''))
  return [...versions, ...others].map(each => ({
    resource: { group: each.group, version: each.version, resource: resource.resource },
    kind: kindIn(each, kind, storedKind.names.kind),
  }))
}

/** A subresource with a kind of its own, such as a Scale, has the same kind in all versions of the resource. */
const kindIn = ({ group, version }: GroupVersion, kind: GroupVersionKind, ofResource: string): GroupVersionKind =>
  kind.kind === ofResource ? { ...kind, group, version } : kind
