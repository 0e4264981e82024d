// A configuration merged onto what is there. The result shares what it can with both: parts that do not change are the
// very parts of the live object, so that what comes after need not look into them.
import { getOwn, isObject, setOwn, type Value, type ValueObject } from '../meta/value.js'
import { sameValue } from './compare.js'
import type { PathElement } from './field-path.js'
import { elementsOf } from './list-items.js'
import { formOf, type ListSchema, type MapSchema, memberSchema, settled, type TypedSchema } from './typed-schema.js'

export const mergeTyped = (schema: TypedSchema, live: Value, applied: Value): Value =>
  mergeAt(schema, live, applied) ?? {}

/** Nothing where nothing is left, which is not the same as something empty. */
function mergeAt(schema: TypedSchema, live: Value | undefined, applied: Value | undefined): Value | undefined {
  if (applied === undefined) return live
  if (live === undefined) return applied
  switch (settled(schema, formOf(schema, applied))) {
    case 'scalar':
      return replaced(live, applied)
    case 'list': {
      const left = Array.isArray(live) ? live : []
      const right = Array.isArray(applied) ? applied : []
      if (schema.list!.type === 'atomic' || left.length + right.length === 0) return replaced(live, applied)
      return mergeItems(schema.list!, left, right)
    }
    case 'map': {
      const left = isObject(live) ? live : {}
      const right = isObject(applied) ? applied : {}
      const names = Object.keys(left)
      const others = Object.keys(right)
      if (schema.map!.isAtomic || names.length + others.length === 0) return replaced(live, applied)
      return mergeMembers(schema.map!, left, right, names, others)
    }
  }
}

const replaced = (live: Value, applied: Value): Value => (sameValue(live, applied) ? live : applied)

function mergeMembers(
  map: MapSchema,
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
    const merged = other === undefined ? before : mergeAt(memberSchema(map, name), before, other)
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
 * Items that both have come in the order of the configuration, and those that only one has stay near their neighbours:
 * items of the live list go before, but not past the next shared item, items of the configuration fill in before it.
 */
function mergeItems(list: ListSchema, live: Value[], applied: readonly Value[]): Value | undefined {
  const left = elementsOf(list, live)
  const right = elementsOf(list, applied)
  const liveItems = new Map<PathElement, Value | undefined>()
  // An item that is there twice is no one item to merge with.
  for (const [i, element] of left.entries()) liveItems.set(element, liveItems.has(element) ? undefined : live[i]!)
  const appliedAt = new Map(right.map((element, i) => [element, i]))

  const result: Value[] = []
  const emit = (value: Value | undefined): void => {
    if (value !== undefined) result.push(value)
  }
  let l = 0
  let r = 0
  // The place of the first item from `r` on that both have; past the end when there is none.
  let shared = 0
  const seekShared = (): void => {
    shared = Math.max(shared, r)
    while (shared < right.length && !liveItems.has(right[shared]!)) shared++
  }
  const takeApplied = (): void => {
    emit(mergeAt(list.element, liveItems.get(right[r]!), applied[r]))
    r++
    seekShared()
  }
  seekShared()
  while (l < left.length || r < right.length) {
    if (l === left.length) {
      takeApplied()
      continue
    }
    const element = left[l]!
    const at = appliedAt.get(element)
    if (at === undefined) {
      emit(live[l])
      l++
    } else if (at < r) {
      // It has been taken with the configuration's.
      l++
      if (r < right.length && shared === right.length) takeApplied()
    } else if (at === r) {
      takeApplied()
      l++
    } else if (at === shared) takeApplied()
    else l++
  }
  if (result.length === 0) return undefined
  return result.length === live.length && result.every((item, i) => item === live[i]) ? live : result
}
