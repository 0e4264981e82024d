// The face of the room for the verbs: what a write makes of managedFields, and what an apply makes of an object. Objects
// that are passed in are left as they were.

import { type Awaitable, andThen, orElse } from '../base/awaitable.js'
import { badRequest, StatusError, unclassified } from '../meta/errors/status.js'
import { isPrintable } from '../meta/go/go-text.js'
import { groupVersionKind, printGroupVersionKind } from '../meta/group-version.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { type ManagedFieldsEntry, metaOf } from '../meta/object/object-meta.js'
import { printTime } from '../meta/values/time.js'
import { copyValue, equalValues, getOwn, isObject, setOwn, type Value, type ValueObject } from '../meta/values/value.js'
import type { MergeType } from '../types/merge.js'
import { Conflicts, conflictStatus, conflictsBeyond } from './managers/conflicts.js'
import { fieldsLastApplied, KUBECTL, withLastApplied } from './managers/last-applied.js'
import {
  capUpdaters,
  decodeManagers,
  decodeStoredManagers,
  encodeManagedFields,
  idOf,
  type ManagerName,
  type Managers,
} from './managers/managed-fields.js'
import { type Applied, applyTo, BadManagers, type Taken, takeOver, type VersionedType } from './managers/managers.js'
import { equalSets, type FieldSet, union } from './paths/field-set.js'
import { TypedError } from './typed/typed-errors.js'
import { checkTyped } from './typed/validate.js'

/** The objects that a request is about. */
export interface ManagedType extends VersionedType {
  readonly kind: string
  /** Empty for the objects themselves. */
  readonly subresource: string
  /** An object of the kind in the request's version before anything is set; nobody's to change. */
  empty(): ValueObject
}

// ---- names

const MANAGER_MAX = 128

/** Who writes: the manager that the request names, or the part of its User-Agent before the slash. */
export function managerName(fieldManager: string, userAgent: string): string {
  if (fieldManager !== '') return fieldManager
  let name = ''
  let size = 0
  for (const character of userAgent.split('/', 1)[0]!) {
    if (!isPrintable(character)) continue
    size += Buffer.byteLength(character)
    if (size > MANAGER_MAX) break
    name += character
  }
  return name === '' ? 'unknown' : name
}

// ---- create, update and patch

/**
 * The object that a create, update or patch means to write, with managedFields that say what it has set. `live` is what
 * is there, if something is; both are as the version of the request has them. A write never fails for its managedFields:
 * where they cannot be told, there are none.
 */
export function trackUpdate(
  type: ManagedType,
  live: ApiObject | undefined,
  next: ApiObject,
  manager: string,
  now: number,
): Awaitable<ApiObject> {
  const managers = managersBefore(type, live, next)
  const bare = withManagedFields(next, [])
  // Objects that have no managers get none before the first apply.
  if (managers.size === 0 && live !== undefined) return bare
  const tracked = (): Awaitable<ApiObject> => {
    const before = live === undefined ? asObject(type.empty()) : withManagedFields(live, [])
    // What was there is checked where the two are compared.
    checkTyped(mergeTypeFor(type), bare, { allowDuplicates: true })
    return andThen(afterUpdate(type, before, bare, managers, manager, now), after =>
      withManagedFields(bare, encodeManagedFields(capUpdaters(after).values())),
    )
  }
  return orElse(tracked, error => {
    if (error instanceof TypedError || error instanceof BadManagers || error instanceof StatusError) return bare
    throw error
  })
}

const afterUpdate = (
  type: ManagedType,
  before: ApiObject,
  next: ApiObject,
  managers: Managers,
  manager: string,
  now: number,
): Awaitable<Managers> =>
  andThen(takeOver(type, before, next, managers), taken => withUpdater(type, managers, taken, manager, now))

/** Those who own what is left to them, and the manager that has set these fields. */
function withUpdater(
  type: ManagedType,
  managers: Managers,
  { managers: others, fields }: Taken,
  manager: string,
  now: number,
): Managers {
  if (fields.size === 0) return others
  const { apiVersion, subresource } = type
  const name: ManagerName = { manager, operation: 'Update', apiVersion, subresource }
  const id = idOf(name)
  const left = others.get(id)
  const owned = left === undefined ? fields : union(left.fields, fields)
  // Who changes what is its own owns no more than before: the very set, which need not be spelled anew.
  const earlier = managers.get(id)?.fields
  const kept = earlier !== undefined && equalSets(earlier, owned) ? earlier : owned
  return new Map(others).set(id, { ...name, fields: kept, time: printTime(now) })
}

/** Clients may set managedFields, or reset them; those who know nothing of them, and subresources, leave them alone. */
function managersBefore(type: ManagedType, live: ApiObject | undefined, next: ApiObject): Managers {
  const stored = (): Managers => {
    const managers = decodeStoredManagers(live === undefined ? [] : entriesOf(live))
    return managers.ok ? managers.value : NOBODY
  }
  if (type.subresource !== '') return stored()
  const { managedFields } = metaOf(next)
  if (isReset(managedFields)) return NOBODY
  if (!managedFields || managedFields.length === 0) return stored()
  if (live !== undefined && equalValues(managedFields as unknown as Value, entriesOf(live) as unknown as Value)) {
    return stored()
  }
  const given = decodeManagers(managedFields)
  return given.ok && given.value.size > 0 ? given.value : stored()
}

const NOBODY: Managers = new Map()

const isReset = (entries: readonly ManagedFieldsEntry[] | undefined): boolean =>
  entries?.length === 1 && Object.keys(entries[0]!).length === 0

/** A write that in the end changes nothing but the times in managedFields changes nothing. */
export function keepTimes(next: ApiObject, live: ApiObject): ApiObject {
  const entries = entriesOf(next)
  const before = entriesOf(live)
  if (entries.length === 0 || entries.length !== before.length) return next
  // What is quickly told comes first.
  const isSame =
    equalBut('managedFields', next.metadata, live.metadata) &&
    entries.every((entry, i) => equalBut('time', entry as ValueObject, before[i] as ValueObject)) &&
    equalBut('metadata', next, live)
  return isSame ? withManagedFields(next, before as unknown as ValueObject[]) : next
}

/** Whether two objects are the same but for one member. */
function equalBut(member: string, a: ValueObject, b: ValueObject): boolean {
  const others = Object.keys(a).filter(name => name !== member)
  const count = Object.keys(b).length - (Object.hasOwn(b, member) ? 1 : 0)
  return count === others.length && others.every(name => equalValues(a[name], getOwn(b, name)))
}

// ---- apply

export interface ApplyRequest {
  readonly manager: string
  readonly force: boolean
  readonly now: number
  /** What the API makes of a merged object: decoded as its type, with defaults. May throw NotOfType. */
  settle(object: ApiObject): ApiObject | Promise<ApiObject>
}

export interface ApplyResult {
  readonly object: ApiObject
  /** True if nothing but ownership may have changed. */
  readonly isUnchanged: boolean
}

/**
 * What becomes of an object, or of nothing, by a configuration that a manager applies. Conflicts and configurations
 * that cannot be merged are StatusErrors.
 */
export async function applyConfiguration(
  type: ManagedType,
  live: ApiObject | undefined,
  configuration: ValueObject,
  request: ApplyRequest,
): Promise<ApplyResult> {
  const applied = checkConfiguration(type, configuration)
  const stored = decodeStoredManagers(live === undefined ? [] : entriesOf(live))
  if (!stored.ok) throw unclassified(`failed to decode managed fields: ${stored.error}`)
  const before = live === undefined ? asObject(type.empty()) : withManagedFields(live, [])
  const schema = mergeTypeFor(type)
  checkAs('failed to create typed patch object', applied, () => checkTyped(schema, applied, { allowDuplicates: false }))
  checkAs('failed to create typed live object', before, () => checkTyped(schema, before, { allowDuplicates: true }))
  const managers = await managersBeforeApply(type, live, before, stored.value, request.now)
  const { apiVersion, subresource } = type
  const name: ManagerName = { manager: request.manager, operation: 'Apply', apiVersion, subresource }
  const done = await applyOrConflict(type, before, applied, managers, name, request.force)
  const isUnchanged = done.object === undefined
  const settled = done.object === undefined ? copyValue(before) : await settleAs(request, done.object, applied)
  const ofManagers = isUnchanged ? done.managers : withTime(done.managers, idOf(name), printTime(request.now))
  const object = withManagedFields(settled, encodeManagedFields(ofManagers.values()))
  return { object: request.manager === KUBECTL ? withLastApplied(object, applied) : object, isUnchanged }
}

/** What is already there when the first apply comes belongs to a manager of its own. */
async function managersBeforeApply(
  type: ManagedType,
  live: ApiObject | undefined,
  before: ApiObject,
  managers: Managers,
  now: number,
): Promise<Managers> {
  if (managers.size > 0 || live === undefined) return managers
  return afterUpdate(type, asObject(type.empty()), before, managers, 'before-first-apply', now)
}

async function applyOrConflict(
  type: ManagedType,
  live: ApiObject,
  applied: ApiObject,
  managers: Managers,
  name: ManagerName,
  force: boolean,
): Promise<Applied> {
  try {
    return await applyTo(type, live, applied, managers, name, force)
  } catch (error) {
    if (error instanceof BadManagers) throw unclassified(error.message)
    if (!(error instanceof Conflicts)) throw error
    if (name.manager !== KUBECTL) throw conflictStatus(error.conflicts)
    const allowed: FieldSet = fieldsLastApplied(mergeTypeFor(type), live)
    const rest = conflictsBeyond(error.conflicts, allowed)
    if (rest.length > 0) throw conflictStatus(rest)
    return applyTo(type, live, applied, managers, name, true)
  }
}

function withTime(managers: Managers, id: string, time: string): Managers {
  const own = managers.get(id)
  return own === undefined ? managers : new Map(managers).set(id, { ...own, time })
}

function checkConfiguration(type: ManagedType, configuration: ValueObject): ApiObject {
  const apiVersion = textOf(configuration, 'apiVersion')
  const kind = textOf(configuration, 'kind')
  if (apiVersion !== type.apiVersion || kind !== type.kind) {
    throw badRequest(`invalid object type: ${printGroupVersionKind(groupVersionKind(apiVersion, kind))}`)
  }
  const metadata = getOwn(configuration, 'metadata')
  if (isObject(metadata) && Array.isArray(getOwn(metadata, 'managedFields'))) {
    throw badRequest('metadata.managedFields must be nil')
  }
  return configuration as ApiObject
}

const textOf = (object: ValueObject, field: string): string => {
  const value = getOwn(object, field)
  return typeof value === 'string' ? value : ''
}

function checkAs(what: string, object: ApiObject, check: () => void): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof TypedError)) throw error
    throw unclassified(`${what} (${printObject(object)}): ${error.message}`)
  }
}

/** Why a merged object cannot be made one of its type, for `settle` to throw. */
export class NotOfType extends Error {}

async function settleAs(request: ApplyRequest, object: ApiObject, applied: ApiObject): Promise<ApiObject> {
  try {
    return await request.settle(copyValue(object))
  } catch (error) {
    if (!(error instanceof NotOfType)) throw error
    throw unclassified(`failed to convert new object (${printObject(applied)}) to proper version: ${error.message}`)
  }
}

/** `default/x; apps/v1, Kind=Deployment` */
function printObject(object: ApiObject): string {
  const metadata = isObject(object.metadata) ? object.metadata : {}
  const type = printGroupVersionKind(groupVersionKind(object.apiVersion, object.kind))
  return `${textOf(metadata, 'namespace')}/${textOf(metadata, 'name')}; ${type}`
}

// ---- objects

function mergeTypeFor(type: ManagedType): MergeType {
  const merged = type.typeOf(type.apiVersion)
  if (merged === undefined) throw new Error(`${type.apiVersion} has no type ${type.kind}`)
  return merged
}

const entriesOf = (object: ApiObject): readonly ManagedFieldsEntry[] => metaOf(object).managedFields ?? []

/** An object that may yet have no metadata. */
const asObject = (object: ValueObject): ApiObject => ({ metadata: {}, ...object }) as unknown as ApiObject

/** The object with other managedFields, or none. */
function withManagedFields(object: ApiObject, entries: readonly ValueObject[]): ApiObject {
  if (!isObject(object.metadata)) return object
  if (entries.length === 0 && object.metadata['managedFields'] === undefined) return object
  const metadata: ValueObject = {}
  for (const name of Object.keys(object.metadata)) {
    if (name !== 'managedFields') setOwn(metadata, name, object.metadata[name]!)
  }
  if (entries.length > 0) metadata['managedFields'] = [...entries]
  return { ...object, metadata }
}

export * from './managers/scale-entries.js'
