// Merging a list of objects by a key, or a list of scalars as a set.
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { Type } from '../../types/type.js'
import { formatGo, goTypeName } from '../json/go-format.js'
import { doesNotApply, type PatchError, unclassified } from '../patch-error.js'
import { isMarked, PATCH, unknownDirective } from './directives.js'
import { type Identity, identityOf, putInOrder } from './element-order.js'
import { goKind, type Member } from './member.js'

/** Merges the change of an item into the item. */
export type MergeItems = (item: ValueObject, change: ValueObject, type: Type) => ValueObject

export interface MergedList {
  readonly items: Value[]
  /** The order of the live list, for a `$setElementOrder` that follows. */
  readonly liveOrder: readonly Identity[]
}

export function mergeLists(live: Value[], patch: Value[], member: Member, mergeItems: MergeItems): MergedList {
  if (live.length === 0 && patch.length === 0) return { items: live, liveOrder: [] }
  if (typeOfItems(live, patch) === 'map') {
    return mergeObjectsByKey(live as ValueObject[], patch as ValueObject[], member, mergeItems)
  }
  const items = [...new Map([...live, ...patch].map(item => [identityOf(item), item])).values()]
  if (member.mergeKey !== '') throw wrongType({}, items[0]!)
  const liveOrder = live.map(identityOf)
  return { items: putInOrder(items, patch.map(identityOf), liveOrder, identityOf), liveOrder }
}

/** `$deleteFromPrimitiveList`. A list of objects is merged instead, as in kube-apiserver. */
export function takeFromList(live: Value[], gone: Value[], member: Member, mergeItems: MergeItems): Value[] {
  if (live.length === 0 && gone.length === 0) return live
  if (typeOfItems(live, gone) === 'map') return mergeLists(live, gone, member, mergeItems).items
  const identities = new Set(gone.map(identityOf))
  return live.filter(item => !identities.has(identityOf(item)))
}

/** The identity of an item of a list that merges by a key. */
export const keyOf = (item: ValueObject, mergeKey: string): Identity => {
  const key = getOwn(item, mergeKey)
  return key === undefined ? undefined : identityOf(key)
}

/** All items of all lists must be of one type, and must not be lists. */
export function typeOfItems(...lists: Value[][]): 'map' | 'scalar' {
  let first: string | undefined
  for (const list of lists) {
    for (const item of list) {
      const type = goTypeName(item)
      if (Array.isArray(item) && first === undefined) throw doesNotApply('lists of lists are not supported')
      if (item === null || (first !== undefined && type !== first)) {
        throw unclassified(`list element types are not identical: ${formatGo(lists)}`)
      }
      first = type
    }
  }
  if (first === undefined) throw unclassified('no elements in any of the given slices')
  return first === goTypeName({}) ? 'map' : 'scalar'
}

export const noMergeKey = (item: ValueObject, mergeKey: string): PatchError =>
  unclassified(`map: ${formatGo(item)} does not contain declared merge key: ${mergeKey}`)

export const wrongType = (expected: Value, found: Value): PatchError =>
  unclassified(`expected a ${goTypeName(expected)}, but received a ${goTypeName(found)}`)

function mergeObjectsByKey(
  live: ValueObject[],
  patch: ValueObject[],
  { mergeKey, type }: Member,
  mergeItems: MergeItems,
): MergedList {
  if (mergeKey === '') throw unclassified(`cannot merge lists without merge key for ${goKind(type)}`)
  const { changes, deleted, replaces } = readMarks(patch, mergeKey)
  const identify = (item: ValueObject): Identity => keyOf(item, mergeKey)
  if (replaces) {
    checkKeys(changes, mergeKey)
    return { items: putInOrder(changes, [], changes.map(identify), identify), liveOrder: live.map(identify) }
  }
  const kept = live.filter(item => !deleted.has(identify(item)))
  const merged = [...kept]
  const places = new Map<Identity, number>()
  for (const [place, item] of merged.entries()) if (!places.has(identify(item))) places.set(identify(item), place)
  for (const change of changes) {
    const key = identify(change)
    if (key === undefined) throw noMergeKey(change, mergeKey)
    const place = places.get(key)
    if (place === undefined) places.set(key, merged.push(change) - 1)
    else merged[place] = mergeItems(merged[place]!, change, type)
  }
  checkKeys(merged, mergeKey)
  const keptOrder = kept.map(identify)
  return {
    items: putInOrder(merged, changes.map(identify), keptOrder, identify),
    // In kube-apiserver new items take the places of deleted ones, and `$setElementOrder` treats them as live.
    liveOrder: [...keptOrder, ...merged.slice(kept.length, live.length).map(identify)],
  }
}

/** Separates the items marked with `$patch` from those to merge. */
function readMarks(patch: ValueObject[], mergeKey: string) {
  const deleted = new Set<Identity>()
  let replaces = false
  for (const item of patch.filter(isMarked)) {
    const mark = item[PATCH]!
    if (mark === 'delete') {
      const key = keyOf(item, mergeKey)
      if (key === undefined) throw noMergeKey(item, mergeKey)
      deleted.add(key)
    } else if (mark === 'replace') replaces = true
    else if (mark === 'merge') throw unclassified('merging lists cannot yet be specified in the patch')
    else throw unknownDirective(mark, item)
  }
  return { changes: patch.filter(item => !isMarked(item)), deleted, replaces }
}

/** Live items without the key are detected only here, after the merge. */
function checkKeys(items: ValueObject[], mergeKey: string): void {
  for (const item of items) if (!isObject(item) || !Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
}
