// What identifies the items of a list: members of a set by their value, items of a map list by their keys.

import { failed, parsed, type Result } from '../../base/result.js'
import { encodeString } from '../../codec/json.js'
import { quote } from '../../meta/go/go-text.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { MergeList } from '../../types/merge.js'
import { keyElement, type PathElement, valueElement } from '../paths/field-path.js'
import { error, TypedError } from './typed-errors.js'

export const itemElement = (list: MergeList, item: Value): Result<PathElement> =>
  list.type === 'map' ? itemByKey(list, item) : memberOfSet(item)

function itemByKey(list: MergeList, item: Value): Result<PathElement> {
  if (item === null) return failed('associative list with keys may not have a null element')
  if (!isObject(item)) return failed('associative list with keys may not have non-map elements')
  if (list.keys.length === 1) {
    const only = getOwn(item, list.keys[0]!)
    if (typeof only === 'string') return parsed(`${keyStart(list)}${encodeString(only)}}`)
  }
  const key: [string, Value][] = []
  for (const name of list.keys) {
    const value = getOwn(item, name) ?? (Object.hasOwn(item, name) ? null : list.keyDefault(name))
    // Some of the keys may be left out, but not all of them.
    if (value !== undefined) key.push([name, value])
  }
  if (key.length > 0) return parsed(keyElement(key))
  const keys = list.writtenKeys.map(quote).join(' ')
  return failed(
    `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
  )
}

const starts = new WeakMap<MergeList, string>()

/** `k:{"name":`, for the many lists with one key. */
function keyStart(list: MergeList): string {
  let start = starts.get(list)
  if (start === undefined) {
    start = `k:{${encodeString(list.keys[0]!)}:`
    starts.set(list, start)
  }
  return start
}

function memberOfSet(item: Value): Result<PathElement> {
  if (item === null) return failed("associative list without keys has an element that's an explicit null")
  if (Array.isArray(item)) return failed('not supported: associative list with lists as elements')
  if (isObject(item)) return failed("associative list without keys has an element that's a map type")
  return parsed(valueElement(item))
}

const PLAIN: ReadonlySet<string> = new Set(['string', 'number', 'boolean'])

/** Whether an item has an element. In obvious cases none is built. */
export function hasElement(list: MergeList, item: Value): boolean {
  if (list.keys.length > 0 && isObject(item) && PLAIN.has(typeof getOwn(item, list.keys[0]!))) return true
  return (list.type === 'set' && typeof item === 'string') || itemElement(list, item).ok
}

/** Throws a TypedError, unless the list was checked before. */
export function elementOf(list: MergeList, item: Value): PathElement {
  const element = itemElement(list, item)
  if (!element.ok) throw new TypedError([error(element.error)])
  return element.value
}

export const elementsOf = (list: MergeList, items: readonly Value[]): PathElement[] =>
  items.map(item => elementOf(list, item))

/** The usual case: the same items in the same order, without duplicates. Mostly it needs no elements. */
export function areInStep(list: MergeList, before: readonly Value[], after: readonly Value[]): boolean {
  if (before.length !== after.length) return false
  for (let i = 0; i < before.length; i++) if (!haveSameKey(list, before[i]!, after[i]!)) return false
  return before.length === 1 || new Set(plainKeys(list, before) ?? elementsOf(list, before)).size === before.length
}

/** The keys of the items, if there is one key and it is a string in each of them. */
function plainKeys({ keys }: MergeList, items: readonly Value[]): string[] | undefined {
  if (keys.length !== 1) return undefined
  const values: string[] = []
  for (const item of items) {
    const value = getOwn(item as ValueObject, keys[0]!)
    if (typeof value !== 'string') return undefined
    values.push(value)
  }
  return values
}

/** False also if it needs a closer comparison. */
function haveSameKey({ type, keys }: MergeList, a: Value, b: Value): boolean {
  if (type === 'set') return a === b
  if (!isObject(a) || !isObject(b)) return false
  for (const key of keys) {
    const value = getOwn(a, key)
    if (value !== getOwn(b, key) || (typeof value === 'object' && value !== null)) return false
  }
  return true
}
