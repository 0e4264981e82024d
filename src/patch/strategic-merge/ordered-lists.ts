// `$setElementOrder/ports: [...]`: merges the list `ports` of the patch, if there is one, and orders the result.
import { getOwn, isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import type { Type } from '../../types/type.js'
import { formatGo } from '../json/go-format.js'
import { unclassified } from '../patch-error.js'
import { isMarked, listBeside, PATCH, SET_ORDER, withoutDirectives } from './directives.js'
import { type Identity, identityOf, putInOrder } from './element-order.js'
import { listMemberOf, type Member } from './member.js'
import {
  keyOf,
  type MergedList,
  type MergeItems,
  mergeLists,
  noMergeKey,
  typeOfItems,
  wrongType,
} from './merge-lists.js'

/** The name of the list that was merged, if there was one. */
export function mergeInOrder(
  directive: string,
  order: Value,
  live: ValueObject,
  patch: ValueObject,
  type: Type,
  mergeItems: MergeItems,
): string | undefined {
  if (!Array.isArray(order)) throw wrongType([], order)
  const name = listBeside(directive, SET_ORDER)
  const current = listAt(live, name)
  const change = listAt(patch, name)
  const member = listMemberOf(type, name)
  checkOrder(change ?? [], order, member.mergeKey)
  if (current === undefined && change === undefined) return undefined

  const { items, liveOrder } = mergeBoth(current, change, member, mergeItems)
  const identify = identifyBy(member.mergeKey, items, order)
  typeOfItems(current ?? [], change ?? [])
  const ordered = putInOrder(items, order.map(identify), liveOrder, identify)
  setOwn(live, name, [...ordered.filter(item => !isDeletion(item)), ...ordered.filter(isDeletion)])
  return name
}

function listAt(object: ValueObject, name: string): Value[] | undefined {
  const list = getOwn(object, name)
  if (list === undefined || Array.isArray(list)) return list
  throw wrongType([], list)
}

function mergeBoth(
  current: Value[] | undefined,
  change: Value[] | undefined,
  member: Member,
  mergeItems: MergeItems,
): MergedList {
  if (current === undefined) return { items: withoutDirectives(change ?? []) as Value[], liveOrder: [] }
  if (change !== undefined && member.strategy === 'merge') return mergeLists(current, change, member, mergeItems)
  const identify = (item: Value): Identity => (isObject(item) ? keyOf(item, member.mergeKey) : identityOf(item))
  return { items: change ?? current, liveOrder: current.map(identify) }
}

/** The items of the patch, except those marked with `$patch`, must all be in the order list, in the same order. */
function checkOrder(patch: Value[], order: Value[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return
  const items = mergeKey === '' ? patch : patch.filter(item => !isDeletion(expectObject(item)))
  const identify = (item: Value): Identity => (mergeKey === '' ? identityOf(item) : expectKey(item, mergeKey))
  let next = 0
  for (let place = 0; next < items.length && place < order.length; ) {
    // A marked item is skipped, unless the order list has ended before it.
    if (isMarked(items[next]!)) next++
    else if (identify(items[next]!) === identify(order[place++]!)) next++
  }
  if (next < items.length) {
    throw unclassified(
      `The order in patch list:\n${formatGo(patch)}\n doesn't match ${SET_ORDER} list:\n${formatGo(order)}\n`,
    )
  }
}

function expectObject(item: Value): ValueObject {
  if (isObject(item)) return item
  throw wrongType({}, item)
}

function expectKey(item: Value, mergeKey: string): Identity {
  const key = keyOf(expectObject(item), mergeKey)
  if (key === undefined) throw noMergeKey(expectObject(item), mergeKey)
  return key
}

/** The function that identifies the items, after a check that it can identify all of them. */
function identifyBy(mergeKey: string, items: Value[], order: Value[]): (item: Value) => Identity {
  if (mergeKey === '' && !items.some(isObject)) return identityOf
  for (const item of items) expectKey(item, mergeKey)
  for (const [place, item] of order.entries()) {
    if (!isObject(item)) throw unclassified(`value for key ${place} is not a map.`)
    expectKey(item, mergeKey)
  }
  return item => keyOf(item as ValueObject, mergeKey)
}

const isDeletion = (item: Value): boolean => isObject(item) && getOwn(item, PATCH) === 'delete'
