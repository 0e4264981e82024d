// Ownership of fields: which fields a write takes over, and what an apply merges, conflicts with and removes. Managers
// may use other API versions than the write; their fields are compared in their own version.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { MergeType } from '../../types/merge.js'
import { fieldElement } from '../paths/field-path.js'
import {
  difference,
  EMPTY,
  equalSets,
  type FieldSet,
  fieldSet,
  intersection,
  recursiveDifference,
  union,
  withDeclaredFields,
} from '../paths/field-set.js'
import { type Comparison, compareTyped, leavingOut } from '../typed/compare.js'
import { mergeTyped } from '../typed/merge.js'
import { fieldsOf } from '../typed/owned-fields.js'
import { removeItems } from '../typed/remove-items.js'
import { underCurrentType } from '../typed/schema-change.js'
import { TypedError } from '../typed/typed-errors.js'
import { checkTyped } from '../typed/validate.js'
import { hasShape, type ValueShape, valueShapeOf } from '../typed/value-shape.js'
import { type Conflict, Conflicts } from './conflicts.js'
import { idOf, type ManagerName, type Managers, type Owned } from './managed-fields.js'

/** The objects, as the algorithm needs them. */
export interface VersionedType {
  /** The version of the request. */
  readonly apiVersion: string
  /**
   * The type in a version. For a version that does not exist it returns undefined, and the managers that used that
   * version are removed; or it throws BadManagers, and the managers cannot be read at all.
   */
  typeOf(apiVersion: string): MergeType | undefined
  convert(object: ApiObject, apiVersion: string): ApiObject | Promise<ApiObject>
  /** Fields that the endpoint resets. A manager does not come to own them through it. */
  resets(apiVersion: string): FieldSet
}

/** The fields of a manager cannot be read. */
export class BadManagers extends Error {}

/** Fields that are never owned: the type of an object, and fields that only the server sets. */
const NEVER_OWNED: FieldSet = fieldSet(
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [fieldElement('metadata')],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map(name => [fieldElement('metadata'), fieldElement(name)]),
)

// ---- update

export interface Taken {
  readonly managers: Managers
  /** The fields that the write sets. */
  readonly fields: FieldSet
}

/** The fields that a plain write takes from all managers, its own earlier entry included, and those that it sets. */
export function takeOver(type: VersionedType, live: ApiObject, next: ApiObject, managers: Managers): Awaitable<Taken> {
  return andThen(
    transferOwnership(type, live, next, underCurrentTypes(type, managers), undefined, true),
    ({ others, comparison }) => ({
      managers: others,
      fields: difference(union(comparison.modified, comparison.added), NEVER_OWNED),
    }),
  )
}

// ---- create

/** The fields that the creation of an object sets. */
export function createdFields(type: VersionedType, empty: ApiObject, next: ApiObject): Awaitable<FieldSet> {
  if (!isBare(empty)) return andThen(takeOver(type, empty, next, NO_MANAGERS), ({ fields }) => fields)
  const known = created.get(type) ?? []
  for (const { shape, fields } of known) if (hasShape(shape, next)) return fields
  return andThen(takeOver(type, empty, next, NO_MANAGERS), ({ fields }) => {
    const shape = valueShapeOf(type.typeOf(type.apiVersion)!, next)
    if (shape !== undefined) created.set(type, [{ shape, fields }, ...known].slice(0, MAX_SHAPES))
    return fields
  })
}

interface Created {
  readonly shape: ValueShape
  readonly fields: FieldSet
}

/** The last shapes of created objects, with the fields that each of them owns: an object of that shape owns the same. */
const created = new WeakMap<VersionedType, readonly Created[]>()
const MAX_SHAPES = 4

const NO_MANAGERS: Managers = new Map()

/** Whether only the shape of an object, not its values, decides in which fields it differs from this one. */
const isBare = (empty: ApiObject): boolean =>
  Object.keys(empty).every(name => NEVER_OWNED.has(fieldElement(name))) &&
  Object.keys(empty.metadata).every(name => name === 'creationTimestamp')

// ---- apply

export interface Applied {
  readonly managers: Managers
  /** Undefined if the apply does not change the object. */
  readonly object: ApiObject | undefined
}

/** Throws Conflicts. */
export async function applyTo(
  type: VersionedType,
  live: ApiObject,
  configuration: ApiObject,
  allManagers: Managers,
  name: ManagerName,
  force: boolean,
): Promise<Applied> {
  const mergeType = type.typeOf(type.apiVersion)!
  const id = idOf(name)
  const managers = underCurrentTypes(type, allManagers)
  const last = managers.get(id)
  const fields = recursiveDifference(fieldsOf(mergeType, configuration, last?.fields), type.resets(type.apiVersion))
  const { manager, operation, apiVersion, subresource } = name
  const own: Owned = { manager, operation, apiVersion, subresource, fields, time: last?.time }
  const withOwn = new Map(managers).set(id, own)
  const merged = mergeTyped(mergeType, live, configuration) as ApiObject
  const applied = difference(fields, NEVER_OWNED)
  const isSame = last !== undefined && last.apiVersion === type.apiVersion && equalSets(applied, last.fields)
  // An applier that applies the same fields as before gives up none of them.
  const object = last === undefined || isSame ? merged : await prune(type, merged, withOwn, last)
  const { others } = await transferOwnership(type, live, object, withOwn, id, force)
  if (applied.size > 0) others.set(id, isSame ? last : { ...own, fields: applied })
  return { managers: others, object: equalValues(live, object) ? undefined : object }
}

// ---- both

interface Transfer {
  readonly others: Map<string, Owned>
  readonly comparison: Comparison
}

/** Takes changed fields from their owners, and removed fields from all. Throws Conflicts unless forced. */
function transferOwnership(
  type: VersionedType,
  live: ApiObject,
  next: ApiObject,
  managers: Managers,
  self: string | undefined,
  force: boolean,
): Awaitable<Transfer> {
  const comparison = compareIn(type, type.typeOf(type.apiVersion)!, type.apiVersion, live, next)
  const owners = [...managers].filter(([id]) => id !== self)
  const seen = differencesSeen(type, live, next, owners, differenceOf(comparison))
  return andThen(seen, differences => ({ others: takenFrom(owners, differences, force), comparison }))
}

type Owners = readonly (readonly [id: string, owned: Owned])[]
type Differences = ReadonlyMap<string, Difference | undefined>

/** The differences in the versions that the owners used. Nearly always that is the version of the request. */
function differencesSeen(
  type: VersionedType,
  live: ApiObject,
  next: ApiObject,
  owners: Owners,
  here: Difference,
): Awaitable<Differences> {
  const differences = new Map<string, Difference | undefined>([[type.apiVersion, here]])
  const elsewhere = new Set(owners.map(([, { apiVersion }]) => apiVersion).filter(at => at !== type.apiVersion))
  const look = async (): Promise<Differences> => {
    for (const at of elsewhere) differences.set(at, await differenceThere(type, at, live, next))
    return differences
  }
  return elsewhere.size === 0 ? differences : look()
}

function takenFrom(owners: Owners, differences: Differences, force: boolean): Map<string, Owned> {
  const others = new Map<string, Owned>()
  const conflicts: Conflict[] = []
  for (const [id, owned] of owners) {
    const { apiVersion, fields } = owned
    const there = differences.get(apiVersion)
    // The fields of a manager whose version does not exist any more cannot be compared.
    if (there === undefined) continue
    const taken = intersection(fields, there.changed)
    if (taken.size > 0) conflicts.push({ manager: owned, fields: taken })
    const rest = difference(difference(fields, taken), there.removed)
    if (rest.size > 0) others.set(id, rest === fields ? owned : { ...owned, fields: rest })
  }
  if (!force && conflicts.length > 0) throw new Conflicts(conflicts)
  return others
}

interface Difference {
  readonly changed: FieldSet
  readonly removed: FieldSet
}

const differenceOf = ({ modified, added, removed }: Comparison): Difference => ({
  changed: union(modified, added),
  removed,
})

const compareIn = (
  type: VersionedType,
  mergeType: MergeType,
  apiVersion: string,
  before: Value,
  after: Value,
): Comparison => leavingOut(compareTyped(mergeType, before, after), type.resets(apiVersion))

async function differenceThere(
  type: VersionedType,
  apiVersion: string,
  live: ApiObject,
  next: ApiObject,
): Promise<Difference | undefined> {
  const before = await seenAs(type, live, apiVersion, 'failed to convert old object')
  const after = await seenAs(type, next, apiVersion, 'failed to convert new object')
  if (before === undefined || after === undefined) return undefined
  return differenceOf(compareIn(type, before.mergeType, apiVersion, before.object, after.object))
}

interface Seen {
  readonly object: ApiObject
  readonly mergeType: MergeType
}

/**
 * Undefined for a version that does not exist. Throws BadManagers if the object has fields which that version does not
 * declare: conversion alone does not drop them. `failed` begins the message.
 */
async function seenAs(
  type: VersionedType,
  object: ApiObject,
  apiVersion: string,
  failed: string,
): Promise<Seen | undefined> {
  const mergeType = type.typeOf(apiVersion)
  if (mergeType === undefined) {
    const version = parseGroupVersion(apiVersion)
    if (!version.ok) throw new BadManagers(version.error)
    return undefined
  }
  if (object.apiVersion === apiVersion) return { object, mergeType }
  const converted = await type.convert(object, apiVersion)
  try {
    checkTyped(mergeType, converted, { allowDuplicates: false })
  } catch (error) {
    if (!(error instanceof TypedError)) throw error
    throw new BadManagers(`${failed}: ${error.message}`)
  }
  return { object: converted, mergeType }
}

function underCurrentTypes(type: VersionedType, managers: Managers): Managers {
  let result: Map<string, Owned> | undefined
  for (const [id, owned] of managers) {
    const mergeType = type.typeOf(owned.apiVersion)
    const fields = mergeType === undefined ? owned.fields : underCurrentType(owned.fields, mergeType)
    if (fields === owned.fields) continue
    result ??= new Map(managers)
    result.set(id, { ...owned, fields })
  }
  return result ?? managers
}

// ---- fields that are no longer applied

const PRUNE = 'failed to prune fields'

/** The merged object without the fields that its applier applied last time and that have no owner now. */
async function prune(type: VersionedType, merged: ApiObject, managers: Managers, last: Owned): Promise<ApiObject> {
  const seen = await seenAs(
    type,
    merged,
    last.apiVersion,
    `${PRUNE}: failed to convert merged object to last applied version`,
  )
  if (seen === undefined) return merged
  const { object, mergeType: schema } = seen
  const applied = withDeclaredFields(last.fields, schema)
  const bare = removeItems(schema, object, applied) as ApiObject
  const kept = await bringBackOwned(type, object, bare, managers, last.apiVersion)
  // A field that is gone only because a part around it is gone was not removed by the applier.
  const dangling = `${PRUNE}: failed add back dangling items: failed to convert pruned object to last applied version`
  const then = await seenAs(type, kept, last.apiVersion, dangling)
  if (then === undefined) return merged
  const gone = difference(
    withDeclaredFields(fieldsOf(schema, object), schema),
    withDeclaredFields(fieldsOf(schema, then.object), schema),
  )
  const pruned = removeItems(schema, object, intersection(gone, applied)) as ApiObject
  const back = await seenAs(type, pruned, type.apiVersion, PRUNE)
  return back?.object ?? merged
}

/** Restores the fields that some manager owns, each in its own version, starting with that of the pruned object. */
async function bringBackOwned(
  type: VersionedType,
  merged: ApiObject,
  pruned: ApiObject,
  managers: Managers,
  firstVersion: string,
): Promise<ApiObject> {
  const owned = new Map<string, FieldSet>([[firstVersion, EMPTY]])
  for (const { apiVersion, fields } of managers.values()) {
    owned.set(apiVersion, union(owned.get(apiVersion) ?? EMPTY, fields))
  }
  let [whole, rest] = [merged, pruned]
  for (const [apiVersion, fields] of owned) {
    if (fields.size === 0) continue
    const failed = (what: string): string =>
      `${PRUNE}: failed add back owned items: failed to convert ${what} object at version ${apiVersion}`
    const before = await seenAs(type, whole, apiVersion, failed('merged'))
    const after = await seenAs(type, rest, apiVersion, failed('pruned'))
    if (before === undefined || after === undefined) continue
    const { mergeType: schema } = before
    const gone = difference(
      withDeclaredFields(fieldsOf(schema, before.object), schema),
      union(withDeclaredFields(fieldsOf(schema, after.object), schema), withDeclaredFields(fields, schema)),
    )
    whole = before.object
    rest = removeItems(schema, whole, gone) as ApiObject
  }
  return rest
}
