// A kind as the operations of this room need it.

import type { Kind, KindVersion } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import { quote } from '../meta/go/go-text.js'
import { groupVersionKind, parseGroupVersion, printGroupVersionKind } from '../meta/group-version.js'
import { isObject, type ValueObject } from '../meta/values/value.js'
import { zeroOf } from '../types/decode.js'
import { mergeTypeOf } from '../types/merge.js'
import type { Type, Types } from '../types/type.js'
import type { ManagedType } from './field-manager.js'
import { BadManagers } from './managers/managers.js'
import { resetFields } from './managers/reset-fields.js'
import { SCALE_VERSION } from './managers/scale-entries.js'
import { EMPTY, type FieldSet } from './paths/field-set.js'

/** The objects of a kind, or their status. */
export function managedType(kind: Kind, version: KindVersion, subresource: string): ManagedType {
  const apiVersion = apiVersionOf(kind, version.name)
  const isCustom = version.type.dialect === 'structural'
  const name = kind.names.kind
  const types = new Map(kind.versions.map(each => [apiVersionOf(kind, each.name), each.type]))
  const subresources = new Map(kind.versions.map(each => [apiVersionOf(kind, each.name), each.subresources]))
  const resetsOf = (at: string): FieldSet => resetFields(subresources.get(at) ?? version.subresources, subresource)
  let empty: ValueObject | undefined
  return {
    apiVersion,
    kind: name,
    subresource,
    typeOf(at) {
      const type = types.get(at)
      if (type) return mergeTypeOf(type)
      return isCustom ? noSuchVersion(kind, apiVersion, at) : undefined
    },
    // Conversion alone does not drop fields that the version has not.
    convert: (object, to) => (kind.convertUnpruned ?? kind.convert)(object, to),
    // A write to an object of a custom kind resets fields only in the version of the request, all others in all versions.
    resets: at => (at === apiVersion || !isCustom || subresource === 'status' ? resetsOf(at) : EMPTY),
    empty: () => (empty ??= emptyObject(version.type, apiVersion, name)),
  }
}

/** An object before anything is set. A built-in type has its structs, even if they are empty. */
export function emptyObject(type: Type, apiVersion: string, kind: string): ValueObject {
  const zero = type.dialect === 'go' ? zeroOf(type) : {}
  return { ...(isObject(zero) ? zero : {}), apiVersion, kind }
}

/** A custom object cannot be converted to a version that is not served any more, not even if nothing would change. */
function noSuchVersion({ group, names }: Kind, from: string, to: string): never {
  const version = parseGroupVersion(to)
  if (!version.ok) throw new BadManagers(version.error)
  if (version.value.group === group) {
    throw new BadManagers(`request to convert CR to an invalid group/version: ${to}`)
  }
  const type = printGroupVersionKind(groupVersionKind(from, names.kind))
  throw new BadManagers(`${type} is unsuitable for converting to ${quote(to)}`)
}

/** Objects of a built-in type that are not stored, such as reviews. */
export function unstoredManagedType(
  types: Types,
  apiVersion: string,
  kind: string,
  subresource: string,
): ManagedType | undefined {
  const type = types.ofKind(apiVersion, kind)
  return type && plainManagedType(type, apiVersion, kind, subresource)
}

/** The Scales of any kind. Their managedFields are those of `scaleEntries`. */
export function scaleManagedType(types: Types): ManagedType {
  return plainManagedType(types.ofKind(SCALE_VERSION, 'Scale')!, SCALE_VERSION, 'Scale', 'scale')
}

/** A type with one version, of which nothing is reset. */
const plainManagedType = (type: Type, apiVersion: string, kind: string, subresource: string): ManagedType => ({
  apiVersion,
  kind,
  subresource,
  typeOf: at => (at === apiVersion ? mergeTypeOf(type) : undefined),
  convert: object => object,
  resets: () => EMPTY,
  empty: () => emptyObject(type, apiVersion, kind),
})
