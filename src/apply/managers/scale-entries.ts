// The managers of a Scale: those managers of its object that own the number of replicas, wherever that is stored, and
// their entries after the Scale is written.
import type { Kind } from '../../kinds/kind.js'
import { apiVersionOf } from '../../kinds/kind-names.js'
import type { ManagedFieldsEntry } from '../../meta/object/object-meta.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type FieldPath, fieldElement } from '../paths/field-path.js'
import { difference, fieldSet, hasPath } from '../paths/field-set.js'
import {
  decodeManagers,
  decodeStoredManagers,
  encodeManagedFields,
  type Managers,
  type Owned,
} from './managed-fields.js'

export const SCALE_VERSION = 'autoscaling/v1'

const REPLICAS: FieldPath = [fieldElement('spec'), fieldElement('replicas')]

/** The path to the number of replicas in each version of the object, by apiVersion; undefined without a scale. */
export type ReplicasPaths = ReadonlyMap<string, FieldPath | undefined>

export function replicasPaths(kind: Kind): ReplicasPaths {
  return new Map(
    kind.versions.map(({ name, subresources }) => [
      apiVersionOf(kind, name),
      subresources.scale?.replicasPath.map(fieldElement),
    ]),
  )
}

const managersOf = (entries: readonly ManagedFieldsEntry[], isStored: boolean): Managers => {
  const managers = isStored ? decodeStoredManagers(entries) : decodeManagers(entries)
  return managers.ok ? managers.value : new Map()
}

/** The managedFields of the Scale of an object while it is being written. */
export function scaleEntries(objectEntries: readonly ManagedFieldsEntry[], paths: ReplicasPaths): ValueObject[] {
  const owners = [...managersOf(objectEntries, true).values()].flatMap((owned): Owned[] => {
    const path = paths.get(owned.apiVersion)
    if (path === undefined || !hasPath(owned.fields, path)) return []
    return [{ ...owned, apiVersion: SCALE_VERSION, fields: fieldSet(REPLICAS) }]
  })
  return encodeManagedFields(owners)
}

/**
 * The managedFields of the object after its Scale was written. A manager that no longer owns the replicas in the Scale
 * loses them in the object; one that owns them has an entry for them, which has no time.
 */
export function entriesAfterScale(
  objectEntries: readonly ManagedFieldsEntry[],
  entriesOfScale: readonly ManagedFieldsEntry[],
  paths: ReplicasPaths,
  apiVersion: string,
): ValueObject[] {
  const scale = new Map(managersOf(entriesOfScale, false))
  const result: Owned[] = []
  for (const [id, owned] of managersOf(objectEntries, true)) {
    if (!paths.has(owned.apiVersion)) continue
    const path = paths.get(owned.apiVersion)
    if (path === undefined || !hasPath(owned.fields, path)) {
      result.push(owned)
    } else if (scale.has(id)) {
      result.push(owned)
      scale.delete(id)
    } else {
      const fields = difference(owned.fields, fieldSet(path))
      if (fields.size > 0) result.push({ ...owned, fields })
    }
  }
  const path = paths.get(apiVersion)
  if (path !== undefined) {
    for (const owned of scale.values()) {
      // Only the number of replicas goes into the object; other fields of the Scale have no owner.
      if (!hasPath(owned.fields, REPLICAS)) continue
      result.push({ ...owned, apiVersion, fields: fieldSet(path), time: undefined })
    }
  }
  return encodeManagedFields(result)
}
