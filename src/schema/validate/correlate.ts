// What a value was before an update. A part of the new object is matched with a part of the old one by its name, by its
// key in a map, or by its list-map keys; nothing else can be followed. Whether the two are equal is computed lazily.
import { equalValues, getOwn, isObject, type Value } from '../../meta/values/value.js'
import { listMapKey } from '../../types/cel-types.js'
import { memberSchema, type Schema } from '../structure/structural.js'

export interface Correlated {
  readonly value: Value
  readonly old: Value
  readonly schema: Schema
  /** Computed on first use. */
  same: boolean | undefined
  /** The old items of a list map by their keys; computed on first use. */
  oldItems: ReadonlyMap<string, Value> | undefined
}

export const correlate = (value: Value, old: Value, schema: Schema): Correlated => ({
  value,
  old,
  schema,
  same: undefined,
  oldItems: undefined,
})

/** A member and its old value; undefined if there was none, or if no schema describes it. */
export function correlatedMember(parent: Correlated, key: string): Correlated | undefined {
  if (!isObject(parent.value) || !isObject(parent.old)) return undefined
  const schema = memberSchema(parent.schema, key)
  const value = getOwn(parent.value, key)
  const old = getOwn(parent.old, key)
  return schema === undefined || value === undefined || old === undefined ? undefined : correlate(value, old, schema)
}

/** An item and its former self: only the items of list maps can be followed. */
export function correlatedItem(parent: Correlated, index: number): Correlated | undefined {
  const { value, old, schema } = parent
  if (!Array.isArray(value) || !Array.isArray(old) || schema.items === undefined) return undefined
  if (schema.extensions.listType !== 'map') return undefined
  parent.oldItems ??= itemsByKey(old, schema.extensions.listMapKeys, schema.items)
  const key = keyOf(value[index]!, schema.extensions.listMapKeys, schema.items)
  const former = key === undefined ? undefined : parent.oldItems.get(key)
  return former === undefined ? undefined : correlate(value[index]!, former, schema.items)
}

/** Whether nothing changed. Objects with members that no schema describes never count as unchanged. */
export function isUnchanged(pair: Correlated): boolean {
  pair.same ??= compare(pair)
  return pair.same
}

function compare(pair: Correlated): boolean {
  const { value, old } = pair
  if (Array.isArray(value) && Array.isArray(old)) {
    if (value.length !== old.length) return false
    if (pair.schema.extensions.listType !== 'map') return equalValues(value, old)
    return value.every((_, i) => {
      const item = correlatedItem(pair, i)
      return item !== undefined && isUnchanged(item)
    })
  }
  if (isObject(value) && isObject(old)) {
    const keys = Object.keys(value)
    if (keys.length !== Object.keys(old).length) return false
    return keys.every(key => {
      const member = correlatedMember(pair, key)
      return member !== undefined && isUnchanged(member)
    })
  }
  return equalValues(value, old)
}

/** Of several old items with the same keys the first counts. */
function itemsByKey(items: readonly Value[], keys: readonly string[], schema: Schema): ReadonlyMap<string, Value> {
  const found = new Map<string, Value>()
  for (const item of items) {
    const key = keyOf(item, keys, schema)
    if (key !== undefined && !found.has(key)) found.set(key, item)
  }
  return found
}

const keyOf = (item: Value, keys: readonly string[], { properties }: Schema): string | undefined =>
  listMapKey(item, keys, key => properties.get(key)?.default)
