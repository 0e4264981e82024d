// The protobuf messages of aggregated discovery. They are not among the built-in types, because no resource has them;
// they refer to built-in types.

import { once } from '../../base/memo.js'
import type { FieldSpec, TypeSpec, Types } from '../../types/type.js'
import { builtinTypesAnd } from '../../types/type-table.js'

/** The built-in types, with those of aggregated discovery. */
export const discoveryTypes = once((): Types => builtinTypesAnd({ kinds: KINDS, types: TYPES }))

const KINDS = { 'apidiscovery.k8s.io/v2 APIGroupDiscoveryList': 'apidiscovery/v2.APIGroupDiscoveryList' }

const field = (number: number, name: string, type: string, more: Partial<FieldSpec> = {}): FieldSpec => ({
  number,
  name,
  type,
  ...more,
})

const GROUP_VERSION_KIND = 'meta/v1.GroupVersionKind'

const TYPES: Readonly<Record<string, TypeSpec>> = {
  [GROUP_VERSION_KIND]: {
    fields: [field(1, 'group', 'string'), field(2, 'version', 'string'), field(3, 'kind', 'string')],
  },
  'apidiscovery/v2.APIGroupDiscoveryList': {
    fields: [field(1, 'metadata', 'meta/v1.ListMeta'), field(2, 'items', '[]apidiscovery/v2.APIGroupDiscovery')],
  },
  'apidiscovery/v2.APIGroupDiscovery': {
    fields: [field(1, 'metadata', 'meta/v1.ObjectMeta'), field(2, 'versions', '[]apidiscovery/v2.APIVersionDiscovery')],
  },
  'apidiscovery/v2.APIVersionDiscovery': {
    fields: [
      field(1, 'version', 'string'),
      field(2, 'resources', '[]apidiscovery/v2.APIResourceDiscovery'),
      field(3, 'freshness', 'string'),
    ],
  },
  'apidiscovery/v2.APIResourceDiscovery': {
    fields: [
      field(1, 'resource', 'string'),
      field(2, 'responseKind', GROUP_VERSION_KIND, { pointer: true }),
      field(3, 'scope', 'string'),
      field(4, 'singularResource', 'string'),
      field(5, 'verbs', '[]string'),
      field(6, 'shortNames', '[]string'),
      field(7, 'categories', '[]string'),
      field(8, 'subresources', '[]apidiscovery/v2.APISubresourceDiscovery'),
    ],
  },
  'apidiscovery/v2.APISubresourceDiscovery': {
    fields: [
      field(1, 'subresource', 'string'),
      field(2, 'responseKind', GROUP_VERSION_KIND, { pointer: true }),
      field(3, 'acceptedTypes', `[]${GROUP_VERSION_KIND}`),
      field(4, 'verbs', '[]string'),
    ],
  },
}
