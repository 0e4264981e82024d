// Who owns which field: every write is tracked in the object's managedFields, and an apply is carried out by them.
import { schemaOfCustomObjects } from '../apply/crd-schema.js'
import { type ManagedType, managerName, trackUpdate } from '../apply/field-manager.js'
import { type CustomSchemas, managedType } from '../apply/managed-type.js'
import type { TypedSchema } from '../apply/typed-schema.js'
import { builtinTypes } from '../builtin/type-table.js'
import { setMeta } from '../kinds/api-object.js'
import type { ApiObject, Kind, KindVersion } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import type { Awaitable } from '../meta/awaitable.js'
import { metaOf } from '../meta/object-meta.js'
import type { WriteOptions } from '../meta/write-options.js'
import type { Caller, ResourceContext, Target } from './resource-context.js'

/** The object with managedFields that say what this write has set. */
export function track(
  context: ResourceContext,
  target: Target,
  live: ApiObject | undefined,
  next: ApiObject,
  options: WriteOptions,
  caller: Caller,
): Awaitable<ApiObject> {
  return trackUpdate(
    ownershipOf(target),
    live,
    next,
    managerName(options.fieldManager, caller.userAgent),
    context.now(),
  )
}

/** The object with the managedFields of another. */
export function withOwnership(object: ApiObject, tracked: ApiObject): ApiObject {
  const { managedFields } = metaOf(tracked)
  if (metaOf(object).managedFields === managedFields) return object
  const { managedFields: _, ...meta } = metaOf(object)
  return setMeta(object, managedFields ? { ...meta, managedFields } : meta)
}

const known = new WeakMap<KindVersion, Map<string, ManagedType>>()

/** What the apply room must know of what is addressed; found out once for each version. */
export function ownershipOf({ kind, version, subresource }: Target): ManagedType {
  let types = known.get(version)
  if (!types) known.set(version, (types = new Map()))
  let type = types.get(subresource)
  if (!type) types.set(subresource, (type = managedType(kind, version, subresource, customSchemas(kind, version))))
  return type
}

const schemas = new WeakMap<KindVersion, TypedSchema>()

/** Kinds that are in no table of ours are merged by the schema that they bring, or by the look of their values. */
function customSchemas(kind: Kind, { name }: KindVersion): CustomSchemas | undefined {
  if (builtinTypes().typeOfKind(apiVersionOf(kind, name), kind.names.kind) !== undefined) return undefined
  return apiVersion => {
    const version = kind.versions.find(each => apiVersionOf(kind, each.name) === apiVersion)
    if (!version) return undefined
    let schema = schemas.get(version)
    if (!schema) schemas.set(version, (schema = schemaOfCustomObjects(version.openapi?.schema)))
    return schema
  }
}
