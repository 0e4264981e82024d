// The names of a kind in the forms in which messages and objects carry them.
import type { GroupKind, GroupResource } from '../meta/group-version.js'
import type { Kind } from './kind.js'

export const apiVersionOf = (kind: Kind, version: string): string =>
  kind.group === '' ? version : `${kind.group}/${version}`

export const resourceOf = (kind: Kind): GroupResource => ({ group: kind.group, resource: kind.names.plural })

export const groupKindOf = (kind: Kind): GroupKind => ({ group: kind.group, kind: kind.names.kind })
