// The names of a kind in the formats that messages and objects use.

import type { GroupKind, GroupResource } from '../meta/group-version.js'
import { type ApiObject } from '../meta/object/api-object.js'
import type { Kind } from './kind.js'

export const apiVersionOf = (kind: Kind, version: string): string =>
  kind.group === '' ? version : `${kind.group}/${version}`

export const resourceOf = (kind: Kind): GroupResource => ({ group: kind.group, resource: kind.names.plural })

/** With the group in which it is stored, if two groups serve the same objects. */
export const groupKindOf = ({ storedAs, names }: Kind): GroupKind => ({
  group: storedAs.slice(0, Math.max(storedAs.indexOf('/'), 0)),
  kind: names.kind,
})

/** The group and kind that an object states; they may differ from those of its resource. */
export function groupKindIn({ apiVersion, kind: given }: ApiObject, kind: Kind): GroupKind {
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))
  return group === kind.group && given === kind.names.kind ? groupKindOf(kind) : { group, kind: given }
}
