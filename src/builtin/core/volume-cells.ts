// Table cells that volumes and claims share.
import { has, objectAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

export const UNSET = '<unset>'

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

/** In the order of the record, whatever order they were given in. */
export const printAccessModes = (modes: readonly string[]): string =>
  Object.keys(ACCESS_MODES)
    .filter(mode => modes.includes(mode))
    .map(mode => ACCESS_MODES[mode]!)
    .join(',')

export const isBeingDeleted = (object: ValueObject): boolean => has(objectAt(object, 'metadata'), 'deletionTimestamp')

/** The class used to be an annotation. */
export const classOf = (object: ValueObject): string =>
  stringAt(objectAt(objectAt(object, 'metadata'), 'annotations'), 'volume.beta.kubernetes.io/storage-class') ||
  stringAt(objectAt(object, 'spec'), 'storageClassName')

export const stringOrUnset = (object: ValueObject, field: string): string =>
  has(object, field) ? stringAt(object, field) : UNSET
