// The managers of an object's fields, decoded from metadata.managedFields and encoded again. A manager is identified by
// its name, its operation (Apply or Update), its subresource and, for updates, its API version.

import { failed, parsed, type Result } from '../../base/result.js'
import { encodeString } from '../../codec/json.js'
import { compareTexts } from '../../meta/go/go-text.js'
import type { ManagedFieldsEntry } from '../../meta/object/object-meta.js'
import { millisOf } from '../../meta/values/time.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { EMPTY, type FieldSet, unionOf } from '../paths/field-set.js'
import { decodeFieldsV1, encodeFieldsV1 } from '../paths/fields-v1.js'

export interface ManagerName {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
}

/** What a manager owns. */
export interface Owned extends ManagerName {
  readonly fields: FieldSet
  /** When it last changed a field; undefined for a manager that never did. */
  readonly time: string | undefined
}

/** By `idOf`. */
export type Managers = ReadonlyMap<string, Owned>

/** Identifies a manager, and orders managers in lists. An applier may change to another version. */
export function idOf({ manager, operation, apiVersion, subresource }: ManagerName): string {
  const given = manager === '' ? '' : `"manager":${encodeString(manager)},`
  const version = operation === 'Update' ? `,"apiVersion":${encodeString(apiVersion)}` : ''
  const part = subresource === '' ? '' : `,"subresource":${encodeString(subresource)}`
  return `{${given}"operation":"${operation}"${version}${part}}`
}

/** Sets of fields by their encoding and the reverse: a set that did not change is neither decoded nor encoded again. */
const encodings = new WeakMap<FieldSet, Value>()
const decodings = new WeakMap<ValueObject, FieldSet>()

function remember(fields: FieldSet, encoding: ValueObject): void {
  encodings.set(fields, encoding)
  decodings.set(encoding, fields)
}

function decodeStoredSet(encoding: Value | undefined): FieldSet | undefined {
  if (!isObject(encoding)) return decodeFieldsV1(encoding)
  const cached = decodings.get(encoding)
  if (cached !== undefined) return cached
  const fields = decodeFieldsV1(encoding)
  if (fields !== undefined && fields.size > 0) remember(fields, encoding)
  return fields
}

function encodeSet(fields: FieldSet): Value {
  const cached = encodings.get(fields)
  if (cached !== undefined) return cached
  const encoding = encodeFieldsV1(fields)
  if (fields.size > 0) remember(fields, encoding)
  return encoding
}

/** The managers of a stored object. */
export const decodeStoredManagers = (entries: readonly ManagedFieldsEntry[]): Result<Managers> => decode(entries, true)

/** The managers that a client sends. It may write the fields in another order. */
export const decodeManagers = (entries: readonly ManagedFieldsEntry[]): Result<Managers> => decode(entries, false)

/** Why managedFields cannot be used; undefined if they are valid. */
export function managedFieldsError(entries: readonly ManagedFieldsEntry[]): string | undefined {
  const decoded = decodeManagers(entries)
  return decoded.ok ? undefined : decoded.error
}

function decode(entries: readonly ManagedFieldsEntry[], isStored: boolean): Result<Managers> {
  const managers = new Map<string, Owned>()
  for (const [i, entry] of entries.entries()) {
    const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsType = '', fieldsV1 } = entry
    if (operation !== 'Apply' && operation !== 'Update') return failed('operation must be `Apply` or `Update`')
    if (apiVersion === '') return failed('apiVersion must not be empty')
    if (fieldsType === '') return failed(`missing fieldsType in managed fields entry ${i}`)
    if (fieldsType !== 'FieldsV1')
      return failed(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${i}`)
    const fields = isStored ? decodeStoredSet(fieldsV1) : decodeFieldsV1(fieldsV1)
    if (fields === undefined) return failed(`error decoding set of managed fields entry ${i}`)
    const owned: Owned = { manager, operation, apiVersion, subresource, fields, time }
    managers.set(idOf(owned), owned)
  }
  return parsed(managers)
}

/** In the order in which clients see them. */
export const encodeManagedFields = (managers: Iterable<Owned>): ValueObject[] =>
  [...managers].toSorted(compareOwned).map(encodeEntry)

function encodeEntry({ manager, operation, apiVersion, subresource, time, fields }: Owned): ValueObject {
  const entry: ValueObject = {}
  if (manager !== '') entry['manager'] = manager
  entry['operation'] = operation
  entry['apiVersion'] = apiVersion
  if (time !== undefined) entry['time'] = time
  entry['fieldsType'] = 'FieldsV1'
  entry['fieldsV1'] = encodeSet(fields)
  if (subresource !== '') entry['subresource'] = subresource
  return entry
}

function compareOwned(a: Owned, b: Owned): number {
  return (
    compareTexts(a.operation, b.operation) ||
    secondsOf(a.time) - secondsOf(b.time) ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  )
}

/** In whole seconds; managers without a time come first. */
export const secondsOf = (time: string | undefined): number =>
  time === undefined ? 0 : Math.floor(millisOf(time) / 1000)

// ---- the limit on the number of updaters

export const MAX_UPDATERS = 10
const ANCIENT = 'ancient-changes'

/** Of more than ten updaters the oldest are merged into one, separately for each version. */
export function capUpdaters(managers: Managers): Managers {
  if (managers.size <= MAX_UPDATERS) return managers
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update')
  if (updaters.length <= MAX_UPDATERS) return managers
  updaters.sort(([idA, a], [idB, b]) => secondsOf(a.time) - secondsOf(b.time) || compareTexts(idA, idB))
  const result = new Map(managers)
  const firstOf = new Map<string, string>()
  /** The fields of all that are merged into one. They are united at the end, since a union copies its larger set. */
  const mergedFields = new Map<string, FieldSet[]>()
  let count = updaters.length
  for (const [id, updater] of updaters) {
    if (count <= MAX_UPDATERS) break
    const { apiVersion } = updater
    const first = firstOf.get(apiVersion)
    if (first === undefined) {
      firstOf.set(apiVersion, id)
      continue
    }
    const name: ManagerName = { manager: ANCIENT, operation: 'Update', apiVersion, subresource: '' }
    const bucket = idOf(name)
    let merged = mergedFields.get(bucket)
    if (!merged) {
      mergedFields.set(bucket, (merged = [(result.get(bucket) ?? result.get(first)!).fields]))
      if (!result.has(bucket)) result.delete(first)
    }
    merged.push(updater.fields)
    result.delete(id)
    result.set(bucket, { ...name, fields: EMPTY, time: updater.time })
    count--
  }
  for (const [bucket, sets] of mergedFields) result.set(bucket, { ...result.get(bucket)!, fields: unionOf(sets) })
  return result
}
