// The operations of this room for the verbs: what a write does to managedFields, and what an apply does to an object.
// None of them changes its arguments.

import { type Awaitable, andThen, orElse } from '../base/awaitable.js'
import { startTurns } from '../base/turns.js'
import { badRequest, StatusError, unclassified } from '../meta/errors/status.js'
import { isPrintable } from '../meta/go/go-text.js'
import { groupVersionKind, parseGroupVersion, printGroupVersionKind } from '../meta/group-version.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { type ManagedFieldsEntry, metaOf } from '../meta/object/object-meta.js'
import { keepGivenEmpty } from '../meta/values/given-empty.js'
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
  type Owned,
} from './managers/managed-fields.js'
import {
  type Applied,
  applyTo,
  BadManagers,
  createdFields,
  type Taken,
  takeOver,
  type VersionedType,
} from './managers/managers.js'
import { equalSets, type FieldSet, union } from './paths/field-set.js'
import { TypedError } from './typed/typed-errors.js'
import { checkTyped } from './typed/validate.js'

/** The objects of a request. */
export interface ManagedType extends VersionedType {
  readonly kind: string
  /** Empty for the objects themselves. */
  readonly subresource: string
  /** An object of the kind in the request's version before anything is set. It must not be changed. */
  empty(): ValueObject
}

// ---- names

const MANAGER_MAX = 128

/** The manager that the request names, or the part of its User-Agent before the slash. */
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
 * The object of a create, update or patch, with managedFields that say which fields it has set. `live` is the stored
 * object, if there is one; both are in the version of the request. A write never fails because of its managedFields: if
 * they cannot be computed, the object has none.
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
  // An object without managers gets none before the first apply.
  if (managers.size === 0 && live !== undefined) return bare
  // A write of a custom object's status may name another type, which its strategy overwrites later.
  if (next.apiVersion !== type.apiVersion || next.kind !== type.kind) return bare
  const turns = startTurns()
  const tracked = (): Awaitable<ApiObject> => {
    const before = live === undefined ? asObject(type.empty()) : withManagedFields(live, [])
    // The live object is checked where the two are compared.
    checkTyped(mergeTypeFor(type), bare, { allowDuplicates: true })
    const after = (): Awaitable<Managers> =>
      live === undefined && managers.size === 0
        ? andThen(createdFields(type, before, bare), fields =>
            withUpdater(type, managers, { managers, fields }, manager, now),
          )
        : afterUpdate(type, before, bare, managers, manager, now)
    return andThen(turns.next(), () =>
      andThen(after(), then =>
        andThen(turns.next(), () => withManagedFields(bare, encodeManagedFields(capUpdaters(then).values()))),
      ),
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

/** The managers with the fields that are left to them, and the writer with the fields that it has set. */
function withUpdater(
  type: ManagedType,
  managers: Managers,
  { managers: others, fields }: Taken,
  manager: string,
  now: number,
): Managers {
  if (fields.size === 0) return others
  const { apiVersion, subresource } = type
  const id = idOf({ manager, operation: 'Update', apiVersion, subresource })
  const left = others.get(id)
  const owned = left === undefined ? fields : union(left.fields, fields)
  // A manager that changes only its own fields keeps the same set, which need not be encoded again.
  const earlier = managers.get(id)?.fields
  const kept = earlier !== undefined && equalSets(earlier, owned) ? earlier : owned
  const owner: Owned = { manager, operation: 'Update', apiVersion, subresource, fields: kept, time: printTime(now) }
  return new Map(others).set(id, owner)
}

/** Clients may set or reset managedFields. A body without them, and a subresource, leaves them as they are. */
function managersBefore(type: ManagedType, live: ApiObject | undefined, next: ApiObject): Managers {
  const stored = (): Managers => {
    const managers = decodeStoredManagers(live === undefined ? [] : entriesOf(live))
    return managers.ok ? managers.value : NO_MANAGERS
  }
  if (type.subresource !== '') return stored()
  const { managedFields } = metaOf(next)
  if (isReset(managedFields)) return NO_MANAGERS
  if (!managedFields || managedFields.length === 0) return stored()
  if (live !== undefined && equalValues(managedFields as unknown as Value, entriesOf(live) as unknown as Value)) {
    return stored()
  }
  const given = decodeManagers(managedFields)
  return given.ok && given.value.size > 0 ? given.value : stored()
}

const NO_MANAGERS: Managers = new Map()

const isReset = (entries: readonly ManagedFieldsEntry[] | undefined): boolean =>
  entries?.length === 1 && Object.keys(entries[0]!).length === 0

/** If a write changes nothing but the times in managedFields, the times stay. */
export function keepTimes(next: ApiObject, live: ApiObject): ApiObject {
  const entries = entriesOf(next)
  const before = entriesOf(live)
  if (entries.length === 0 || entries.length !== before.length) return next
  // The cheap checks come first.
  if (next.metadata['generation'] !== live.metadata['generation']) return next
  const isSame =
    equalBut('managedFields', next.metadata, live.metadata) &&
    entries.every((entry, i) => equalBut('time', entry as ValueObject, before[i] as ValueObject)) &&
    equalBut('metadata', next, live)
  return isSame ? withManagedFields(next, before as unknown as ValueObject[]) : next
}

/** Whether two objects are equal apart from one member. */
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
  /** Decodes a merged object as its type and sets defaults. May throw NotOfType. */
  decodeMerged(object: ApiObject): ApiObject | Promise<ApiObject>
}

export interface ApplyResult {
  readonly object: ApiObject
  /** Nothing has changed, except perhaps the ownership of fields. */
  readonly isUnchanged: boolean
}

/**
 * The object after a manager applied a configuration to it, or a new object if there is none. Conflicts, and
 * configurations that cannot be merged, are StatusErrors.
 */
export async function applyConfiguration(
  type: ManagedType,
  live: ApiObject | undefined,
  configuration: ValueObject,
  request: ApplyRequest,
): Promise<ApplyResult> {
  const turns = startTurns()
  const applied = checkConfiguration(type, configuration)
  const stored = decodeStoredManagers(live === undefined ? [] : entriesOf(live))
  if (!stored.ok) throw unclassified(`failed to decode managed fields: ${stored.error}`)
  const before = live === undefined ? asObject(type.empty()) : withManagedFields(live, [])
  const schema = mergeTypeFor(type)
  checkAs('failed to create typed patch object', applied, () => checkTyped(schema, applied, { allowDuplicates: false }))
  const isFirst = live !== undefined && stored.value.size === 0
  const checkLive = (): void => checkTyped(schema, before, { allowDuplicates: true })
  if (isFirst) checkAs(FIRST_APPLY, before, checkLive, ' to smd typed')
  else checkAs('failed to create typed live object', before, checkLive)
  await turns.next()
  const managers = await managersBeforeApply(type, live, before, stored.value, request.now)
  await turns.next()
  const { apiVersion, subresource } = type
  const name: ManagerName = { manager: request.manager, operation: 'Apply', apiVersion, subresource }
  const done = await applyOrConflict(type, before, applied, managers, name, request.force)
  const isUnchanged = done.object === undefined
  await turns.next()
  const decoded = done.object === undefined ? copyValue(before) : await decodeAs(request, done.object, applied)
  await turns.next()
  const ofManagers = isUnchanged ? done.managers : withTime(done.managers, idOf(name), printTime(request.now))
  const object = withManagedFields(decoded, encodeManagedFields(ofManagers.values()))
  return { object: request.manager === KUBECTL ? withLastApplied(object, applied) : object, isUnchanged }
}

/** At the first apply, all fields that are there already belong to a manager of their own. */
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
    // Without a group version that can be read, Kubernetes knows no kind either.
    const given = parseGroupVersion(apiVersion).ok ? groupVersionKind(apiVersion, kind) : groupVersionKind('', '')
    throw badRequest(`invalid object type: ${printGroupVersionKind(given)}`)
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

const FIRST_APPLY = 'failed to create manager for existing fields: failed to convert new object'

function checkAs(what: string, object: ApiObject, check: () => void, more = ''): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof TypedError)) throw error
    throw unclassified(`${what} (${printObject(object)})${more}: ${error.message}`)
  }
}

/** Thrown by `decodeMerged` if a merged object is not of its type. */
export class NotOfType extends Error {}

async function decodeAs(request: ApplyRequest, object: ApiObject, applied: ApiObject): Promise<ApiObject> {
  try {
    return await request.decodeMerged(copyValue(object))
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

/** An object that may not have metadata yet. */
const asObject = (object: ValueObject): ApiObject => ({ metadata: {}, ...object }) as unknown as ApiObject

/** The object with other managedFields, or without any. */
function withManagedFields(object: ApiObject, entries: readonly ValueObject[]): ApiObject {
  if (!isObject(object.metadata)) return object
  if (entries.length === 0 && object.metadata['managedFields'] === undefined) return object
  const metadata: ValueObject = {}
  for (const name of Object.keys(object.metadata)) {
    if (name !== 'managedFields') setOwn(metadata, name, object.metadata[name]!)
  }
  if (entries.length > 0) metadata['managedFields'] = [...entries]
  keepGivenEmpty(object.metadata, metadata)
  return { ...object, metadata }
}

export { managedFieldsError } from './managers/managed-fields.js'
export * from './managers/scale-entries.js'
