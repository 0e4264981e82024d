// The attributes of a stored object that are kept beside its bytes, so that most requests need not parse it.

import type { KindVersion } from '../kinds/kind.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import type { CachedEntry, CachedEvent } from '../storage/watch-cache.js'

/** What selectors and the lifecycle of namespaces need of an object. */
export interface ObjectAttributes {
  readonly labels: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string>>
  readonly isTerminating: boolean
}

export type ObjectEntry = CachedEntry<ObjectAttributes>
export type ObjectEvent = CachedEvent<ObjectAttributes>

/** The values of the selectable fields of an object of that version. */
export function selectableFields(version: KindVersion | undefined, object: ApiObject): Record<string, string> {
  const { name = '', namespace = '' } = metaOf(object)
  return { ...version?.fields(object), 'metadata.name': name, 'metadata.namespace': namespace }
}
