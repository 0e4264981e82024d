// What this room must know of a kind, put together from what the kind says of itself.

import type { Kind, KindVersion } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import { quote } from '../meta/go/go-text.js'
import { groupVersionKind, parseGroupVersion, printGroupVersionKind } from '../meta/group-version.js'
import type { ValueObject } from '../meta/values/value.js'
import { builtinTypes } from '../types/type-table.js'
import type { ManagedType } from './field-manager.js'
import { BadManagers } from './managers/managers.js'
import { resetFields } from './managers/reset-fields.js'
import { SCALE_VERSION } from './managers/scale-entries.js'
import { EMPTY } from './paths/field-set.js'
import { emptyOfKind, schemaOfKind } from './typed/builtin-schema.js'
import type { TypedSchema } from './typed/typed-schema.js'

/** By apiVersion, the types of a custom kind as `schemaOfCustomObjects` makes them. */
export type CustomSchemas = (apiVersion: string) => TypedSchema | undefined

/** The objects of a kind, or their status. Built-in kinds bring their types with them. */
export function managedType(
  kind: Kind,
  version: KindVersion,
  subresource: string,
  customSchemas?: CustomSchemas,
): ManagedType {
  const apiVersion = apiVersionOf(kind, version.name)
  const isCustom = customSchemas !== undefined
  const name = kind.names.kind
  const served = new Set(kind.versions.map(each => apiVersionOf(kind, each.name)))
  const resets = resetFields(version.subresources, subresource)
  let empty: ValueObject | undefined
  return {
    apiVersion,
    kind: name,
    subresource,
    schemaOf(at) {
      if (customSchemas) return customSchemas(at) ?? noSuchVersion(kind, apiVersion, at)
      return served.has(at) ? schemaOfKind(builtinTypes(), at, name) : undefined
    },
    convert: (object, to) => kind.convert(object, to),
    // Custom kinds reset only in the version of the request; all versions of a built-in one do.
    resets: at => (at === apiVersion || !isCustom ? resets : EMPTY),
    empty(): ValueObject {
      empty ??= isCustom ? { apiVersion, kind: name } : emptyOfKind(builtinTypes(), apiVersion, name)
      return empty
    },
  }
}

/** Custom objects cannot be converted to a version that is no more, even to find out that nothing is to be done there. */
function noSuchVersion({ group, names }: Kind, from: string, to: string): never {
  const version = parseGroupVersion(to)
  if (!version.ok) throw new BadManagers(version.error)
  if (version.value.group === group) {
    throw new BadManagers(`request to convert CR to an invalid group/version: ${to}`)
  }
  const type = printGroupVersionKind(groupVersionKind(from, names.kind))
  throw new BadManagers(`${type} is unsuitable for converting to ${quote(to)}`)
}

/** The Scales of any kind. Their managedFields are those of `scaleEntries`. */
export const SCALE_TYPE: ManagedType = {
  apiVersion: SCALE_VERSION,
  kind: 'Scale',
  subresource: 'scale',
  schemaOf: at => (at === SCALE_VERSION ? schemaOfKind(builtinTypes(), SCALE_VERSION, 'Scale') : undefined),
  convert: object => object,
  resets: () => EMPTY,
  empty: () => emptyOfKind(builtinTypes(), SCALE_VERSION, 'Scale'),
}
export * from './typed/crd-schema.js'
export * from './typed/typed-schema.js'
