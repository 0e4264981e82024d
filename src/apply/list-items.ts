// By what the items of a list are told apart: members of a set by their value, items of a list by their key.

import { encodeString } from '../codec/json-encode.js'
import { printStrings } from '../meta/go-text.js'
import { failed, type Parsed, parsed } from '../meta/parsed.js'
import { getOwn, isObject, type Value } from '../meta/value.js'
import { keyElement, type PathElement, valueElement } from './field-path.js'
import type { ListSchema } from './typed-schema.js'

export const itemElement = (list: ListSchema, item: Value): Parsed<PathElement> =>
  list.type === 'map' ? itemByKey(list, item) : memberOfSet(item)

function itemByKey(list: ListSchema, item: Value): Parsed<PathElement> {
  if (item === null) return failed('associative list with keys may not have a null element')
  if (!isObject(item)) return failed('associative list with keys may not have non-map elements')
  if (list.keys.length === 1) {
    const only = getOwn(item, list.keys[0]!)
    if (typeof only === 'string') return parsed(`${keyStart(list)}${encodeString(only)}}`)
  }
  const key: [string, Value][] = []
  for (const name of list.keys) {
    const value = getOwn(item, name) ?? (Object.hasOwn(item, name) ? null : list.keyDefault(name))
    // A part of the key may be left out, as long as some part is there.
    if (value !== undefined) key.push([name, value])
  }
  if (key.length > 0) return parsed(keyElement(key))
  const keys = printStrings(list.keys).replace('[]string{', '[').replace(/\}$/, ']')
  return failed(
    `associative list with keys has an element that omits all key fields ${keys} (and doesn't have default values for any key fields)`,
  )
}

const starts = new WeakMap<ListSchema, string>()

/** `k:{"name":`, for the many lists whose items have one key. */
function keyStart(list: ListSchema): string {
  let start = starts.get(list)
  if (start === undefined) {
    start = `k:{${encodeString(list.keys[0]!)}:`
    starts.set(list, start)
  }
  return start
}

function memberOfSet(item: Value): Parsed<PathElement> {
  if (item === null) return failed("associative list without keys has an element that's an explicit null")
  if (Array.isArray(item)) return failed('not supported: associative list with lists as elements')
  if (isObject(item)) return failed("associative list without keys has an element that's a map type")
  return parsed(valueElement(item))
}

/** The items of a list with what tells them apart, once the list has been found valid. */
export function elementsOf(list: ListSchema, items: readonly Value[]): PathElement[] {
  return items.map(item => {
    const element = itemElement(list, item)
    if (!element.ok) throw new Error(element.error)
    return element.value
  })
}
