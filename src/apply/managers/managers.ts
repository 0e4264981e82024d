// Who owns which field: what a write takes over, what an apply merges, conflicts with and removes. Managers may have
// used other versions of the API than the write does; their fields are looked at in their own version.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { StatusError } from '../../meta/errors/status.js'
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
import { asOfToday } from '../typed/schema-change.js'
import { type Conflict, Conflicts } from './conflicts.js'
import { idOf, type ManagerName, type Managers, type Owned } from './managed-fields.js'

/** What the algorithm must know of the objects. */
export interface VersionedType {
  /** The version of the request. */
  readonly apiVersion: string
  /**
   * The type in a version. Where there is no such version (any more) it is nothing, and whoever used that version is
   * forgotten; or it throws BadManagers, and the managers cannot be told.
   */
  typeOf(apiVersion: string): MergeType | undefined
  convert(object: ApiObject, apiVersion: string): ApiObject | Promise<ApiObject>
  /** Fields that the endpoint sets back, whatever a request says of them: nobody comes to own them through it. */
  resets(apiVersion: string): FieldSet
}

/** Why the managers that an object names cannot be asked what they own. */
export class BadManagers extends Error {}

/** What is never owned: what an object is, and what only the server sets. */
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
  /** What the write sets. */
  readonly fields: FieldSet
}

/** What a plain write takes from the other managers, and what it comes to own; its own earlier entry counts as another. */
export function takeOver(type: VersionedType, live: ApiObject, next: ApiObject, managers: Managers): Awaitable<Taken> {
  return andThen(settle(type, live, next, ofToday(type, managers), undefined, true), ({ others, comparison }) => ({
    managers: others,
    fields: difference(union(comparison.modified, comparison.added), NEVER_OWNED),
  }))
}

// ---- apply

export interface Applied {
  readonly managers: Managers
  /** Nothing where the apply changes nothing of the object. */
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
  const schema = type.typeOf(type.apiVersion)!
  const id = idOf(name)
  const managers = ofToday(type, allManagers)
  const last = managers.get(id)
  const fields = recursiveDifference(fieldsOf(schema, configuration, last?.fields), type.resets(type.apiVersion))
  const own: Owned = { ...name, fields, time: last?.time }
  const withOwn = new Map(managers).set(id, own)
  const merged = mergeTyped(schema, live, configuration) as ApiObject
  const applied = difference(fields, NEVER_OWNED)
  const isSame = last !== undefined && last.apiVersion === type.apiVersion && equalSets(applied, last.fields)
  // Who applies the same fields as before gives none of them up.
  const object = last === undefined || isSame ? merged : await prune(type, merged, withOwn, last)
  const { others } = await settle(type, live, object, withOwn, id, force)
  if (applied.size > 0) others.set(id, isSame ? last : { ...own, fields: applied })
  return { managers: others, object: equalValues(live, object) ? undefined : object }
}

// ---- both

interface Settled {
  readonly others: Map<string, Owned>
  readonly comparison: Comparison
}

/** Takes what changes from those who own it, and what is removed from everyone. Throws Conflicts unless forced. */
function settle(
  type: VersionedType,
  live: ApiObject,
  next: ApiObject,
  managers: Managers,
  self: string | undefined,
  force: boolean,
): Awaitable<Settled> {
  const comparison = compareIn(type, type.typeOf(type.apiVersion)!, type.apiVersion, live, next)
  const owners = [...managers].filter(([id]) => id !== self)
  const seen = differencesSeen(type, live, next, owners, differenceOf(comparison), self === undefined)
  return andThen(seen, differences => ({ others: takenFrom(owners, differences, force), comparison }))
}

type Owners = readonly (readonly [id: string, owned: Owned])[]
type Differences = ReadonlyMap<string, Difference | undefined>

/** What has changed in the versions that the owners used: nearly always that of the request, where it is known. */
function differencesSeen(
  type: VersionedType,
  live: ApiObject,
  next: ApiObject,
  owners: Owners,
  here: Difference,
  isUpdate: boolean,
): Awaitable<Differences> {
  const differences = new Map<string, Difference | undefined>([[type.apiVersion, here]])
  const elsewhere = new Set(owners.map(([, { apiVersion }]) => apiVersion).filter(at => at !== type.apiVersion))
  const look = async (): Promise<Differences> => {
    for (const at of elsewhere) differences.set(at, await differenceThere(type, at, live, next, isUpdate))
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
    // Whoever used a version that is gone can no longer be asked what it owns.
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
  schema: MergeType,
  apiVersion: string,
  before: Value,
  after: Value,
): Comparison => leavingOut(compareTyped(schema, before, after), type.resets(apiVersion))

/** `isUpdate`: a plain write goes on where nobody can convert, and takes nothing from those who used that version. */
async function differenceThere(
  type: VersionedType,
  apiVersion: string,
  live: ApiObject,
  next: ApiObject,
  isUpdate: boolean,
): Promise<Difference | undefined> {
  try {
    const before = await seenAs(type, live, apiVersion)
    const after = await seenAs(type, next, apiVersion)
    if (before === undefined || after === undefined) return undefined
    return differenceOf(compareIn(type, before.schema, apiVersion, before.object, after.object))
  } catch (error) {
    if (isUpdate && error instanceof StatusError) return NO_DIFFERENCE
    throw error
  }
}

const NO_DIFFERENCE: Difference = { changed: EMPTY, removed: EMPTY }

interface Seen {
  readonly object: ApiObject
  readonly schema: MergeType
}

/** Nothing for a version that there is not. */
async function seenAs(type: VersionedType, object: ApiObject, apiVersion: string): Promise<Seen | undefined> {
  const schema = type.typeOf(apiVersion)
  if (schema === undefined) {
    const version = parseGroupVersion(apiVersion)
    if (!version.ok) throw new BadManagers(version.error)
    return undefined
  }
  if (object.apiVersion === apiVersion) return { object, schema }
  return { object: await type.convert(object, apiVersion), schema }
}

function ofToday(type: VersionedType, managers: Managers): Managers {
  let result: Map<string, Owned> | undefined
  for (const [id, owned] of managers) {
    const schema = type.typeOf(owned.apiVersion)
    const fields = schema === undefined ? owned.fields : asOfToday(owned.fields, schema)
    if (fields === owned.fields) continue
    result ??= new Map(managers)
    result.set(id, { ...owned, fields })
  }
  return result ?? managers
}

// ---- what is no longer applied

/** The merged object without what its applier applied last time and nobody owns now. */
async function prune(type: VersionedType, merged: ApiObject, managers: Managers, last: Owned): Promise<ApiObject> {
  const seen = await seenAs(type, merged, last.apiVersion)
  if (seen === undefined) return merged
  const { object, schema } = seen
  const applied = withDeclaredFields(last.fields, schema)
  const bare = removeItems(schema, object, applied) as ApiObject
  const kept = await bringBackOwned(type, object, bare, managers, last.apiVersion)
  // What went only because it was inside something was not the applier's to remove.
  const then = await seenAs(type, kept, last.apiVersion)
  if (then === undefined) return merged
  const gone = difference(
    withDeclaredFields(fieldsOf(schema, object), schema),
    withDeclaredFields(fieldsOf(schema, then.object), schema),
  )
  const pruned = removeItems(schema, object, intersection(gone, applied)) as ApiObject
  const back = await seenAs(type, pruned, type.apiVersion)
  return back?.object ?? merged
}

/** Brings back what some manager owns, each in its own version, that of the pruned object first. */
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
    const before = await seenAs(type, whole, apiVersion)
    const after = await seenAs(type, rest, apiVersion)
    if (before === undefined || after === undefined) continue
    const { schema } = before
    const gone = difference(
      withDeclaredFields(fieldsOf(schema, before.object), schema),
      union(withDeclaredFields(fieldsOf(schema, after.object), schema), withDeclaredFields(fields, schema)),
    )
    whole = before.object
    rest = removeItems(schema, whole, gone) as ApiObject
  }
  return rest
}
