// A configuration merged into the live object. The result shares unchanged parts with the live object, so that later
// steps need not look into them.
import { getOwn, isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { type MergeList, type MergeMap, type MergeType, memberType, resolveShape, shapeOf } from '../../types/merge.js'
import type { PathElement } from '../paths/field-path.js'
import { sameValue } from './compare.js'
import { elementsOf } from './list-items.js'

export const mergeTyped = (type: MergeType, live: Value, applied: Value): Value => mergeAt(type, live, applied) ?? {}

/** Undefined if nothing is left, which differs from an empty value. */
function mergeAt(type: MergeType, live: Value | undefined, applied: Value | undefined): Value | undefined {
  if (applied === undefined) return live
  if (live === undefined) return applied
  switch (resolveShape(type, shapeOf(type, applied))) {
    case 'scalar':
      return replaced(live, applied)
    case 'list': {
      const left = Array.isArray(live) ? live : []
      const right = Array.isArray(applied) ? applied : []
      if (type.list!.type === 'atomic' || left.length + right.length === 0) return replaced(live, applied)
      return mergeItems(type.list!, left, right)
    }
    case 'map': {
      const left = isObject(live) ? live : {}
      const right = isObject(applied) ? applied : {}
      const names = Object.keys(left)
      const others = Object.keys(right)
      if (type.map!.isAtomic || names.length + others.length === 0) return replaced(live, applied)
      return mergeMembers(type.map!, left, right, names, others)
    }
  }
}

const replaced = (live: Value, applied: Value): Value => (sameValue(live, applied) ? live : applied)

function mergeMembers(
  map: MergeMap,
  live: ValueObject,
  applied: ValueObject,
  names: readonly string[],
  others: readonly string[],
): Value | undefined {
  const result: ValueObject = {}
  let size = 0
  let isSame = true
  const add = (name: string, value: Value | undefined): void => {
    if (value === undefined) return
    setOwn(result, name, value)
    size++
  }
  for (const name of names) {
    const before = live[name]!
    const other = getOwn(applied, name)
    const merged = other === undefined ? before : mergeAt(memberType(map, name), before, other)
    if (merged !== before) isSame = false
    add(name, merged)
  }
  for (const name of others) {
    if (Object.hasOwn(live, name)) continue
    isSame = false
    add(name, applied[name])
  }
  if (size === 0) return undefined
  return isSame ? live : result
}

/**
 * Items that are in both lists come in the order of the configuration. Items of the live list only keep their places
 * among the others; items of the configuration only come right before the next item that is in both.
 */
function mergeItems(list: MergeList, live: Value[], applied: readonly Value[]): Value | undefined {
  const liveElements = elementsOf(list, live)
  const appliedElements = elementsOf(list, applied)
  const liveItems = new Map<PathElement, Value | undefined>()
  for (const [i, element] of liveElements.entries()) {
    // A duplicate item cannot be merged with.
    liveItems.set(element, liveItems.has(element) ? undefined : live[i]!)
  }
  const places = new Map(appliedElements.map((element, place) => [element, place]))

  const result: Value[] = []
  const put = (item: Value | undefined): void => {
    if (item !== undefined) result.push(item)
  }
  /** How many items of the configuration are in the result, and the index of its next item that is in both lists. */
  let done = 0
  let nextShared = 0
  const putUpTo = (end: number): void => {
    for (; done < end; done++) put(mergeAt(list.element, liveItems.get(appliedElements[done]!), applied[done]))
    nextShared = Math.max(nextShared, done)
    while (nextShared < applied.length && !liveItems.has(appliedElements[nextShared]!)) nextShared++
  }
  putUpTo(0)
  for (const [i, element] of liveElements.entries()) {
    const place = places.get(element)
    if (place === undefined) put(live[i])
    else if (place === nextShared) putUpTo(place + 1)
    // Duplicates are dropped. If no item of both lists follows, a new item takes the place of a duplicate.
    else if (place < done && nextShared === applied.length) putUpTo(Math.min(done + 1, applied.length))
  }
  putUpTo(applied.length)
  if (result.length === 0) return undefined
  return result.length === live.length && result.every((item, i) => item === live[i]) ? live : result
}
