// The managers of an object's fields, read from metadata.managedFields and written back. A manager is told apart by its
// name, what it does (apply or update), the subresource that it goes through and, if it updates, the version that it uses.

import { failed, parsed, type Result } from '../../base/result.js'
import { encodeString } from '../../codec/json.js'
import { compareTexts } from '../../meta/go/go-text.js'
import type { ManagedFieldsEntry } from '../../meta/object/object-meta.js'
import { millisOf } from '../../meta/values/time.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { type FieldSet, union } from '../paths/field-set.js'
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
  /** When it last changed something; an owner that never did has none. */
  readonly time: string | undefined
}

/** By `idOf`. */
export type Managers = ReadonlyMap<string, Owned>

/** Tells managers apart, and orders them where they are listed. An applier may move on to another version. */
export function idOf({ manager, operation, apiVersion, subresource }: ManagerName): string {
  const given = manager === '' ? '' : `"manager":${encodeString(manager)},`
  const version = operation === 'Update' ? `,"apiVersion":${encodeString(apiVersion)}` : ''
  const part = subresource === '' ? '' : `,"subresource":${encodeString(subresource)}`
  return `{${given}"operation":"${operation}"${version}${part}}`
}

/** How sets are spelled in what is stored, and the other way round: a set that did not change is neither read nor written anew. */
const spelled = new WeakMap<FieldSet, Value>()
const read = new WeakMap<ValueObject, FieldSet>()

function remember(fields: FieldSet, spelling: ValueObject): void {
  spelled.set(fields, spelling)
  read.set(spelling, fields)
}

function readStored(spelling: Value | undefined): FieldSet | undefined {
  if (!isObject(spelling)) return decodeFieldsV1(spelling)
  const known = read.get(spelling)
  if (known !== undefined) return known
  const fields = decodeFieldsV1(spelling)
  if (fields !== undefined && fields.size > 0) remember(fields, spelling)
  return fields
}

function spell(fields: FieldSet): Value {
  const known = spelled.get(fields)
  if (known !== undefined) return known
  const spelling = encodeFieldsV1(fields)
  if (fields.size > 0) remember(fields, spelling)
  return spelling
}

/** The managers that a stored object names. */
export const decodeStoredManagers = (entries: readonly ManagedFieldsEntry[]): Result<Managers> => decode(entries, true)

/** The managers that a client names, which may have spelled the fields in its own way. */
export const decodeManagers = (entries: readonly ManagedFieldsEntry[]): Result<Managers> => decode(entries, false)

function decode(entries: readonly ManagedFieldsEntry[], isStored: boolean): Result<Managers> {
  const managers = new Map<string, Owned>()
  for (const [i, entry] of entries.entries()) {
    const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsType = '', fieldsV1 } = entry
    if (operation !== 'Apply' && operation !== 'Update') return failed('operation must be `Apply` or `Update`')
    if (apiVersion === '') return failed('apiVersion must not be empty')
    if (fieldsType === '') return failed(`missing fieldsType in managed fields entry ${i}`)
    if (fieldsType !== 'FieldsV1')
      return failed(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${i}`)
    const fields = isStored ? readStored(fieldsV1) : decodeFieldsV1(fieldsV1)
    if (fields === undefined) return failed(`error decoding set of managed fields entry ${i}`)
    const name: ManagerName = { manager, operation, apiVersion, subresource }
    managers.set(idOf(name), { ...name, fields, time })
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
  entry['fieldsV1'] = spell(fields)
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

/** Whole seconds; what has no time comes first. */
export const secondsOf = (time: string | undefined): number =>
  time === undefined ? 0 : Math.floor(millisOf(time) / 1000)

// ---- at most so many

export const MAX_UPDATERS = 10
const ANCIENT = 'ancient-changes'

/** Of more than ten updaters the oldest are taken together, those of each version for themselves. */
export function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update')
  if (updaters.length <= MAX_UPDATERS) return managers
  updaters.sort(([idA, a], [idB, b]) => secondsOf(a.time) - secondsOf(b.time) || compareTexts(idA, idB))
  const result = new Map(managers)
  const firstOf = new Map<string, string>()
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
    const older = result.get(bucket) ?? result.get(first)!
    if (!result.has(bucket)) result.delete(first)
    result.delete(id)
    result.set(bucket, { ...name, fields: union(updater.fields, older.fields), time: updater.time })
    count--
  }
  return result
}
