// Lists that are sets or maps: no item twice, no key twice. Of several duplicates only the second is reported. Items
// that cannot have keys are reported too.

import { encodeJson } from '../../codec/json.js'
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  indexPath,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { getOwn, isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { BELOW, type Schema } from '../structure/structural.js'
import { shown } from './run.js'

export function checkListTypes(value: Value, schema: Schema, at = ''): FieldError[] {
  const errors: FieldError[] = []
  walk(value, schema, at, errors)
  return errors
}

function walk(value: Value, schema: Schema, path: string, errors: FieldError[]): void {
  if (!holdsListTypes(schema)) return
  if (Array.isArray(value)) {
    const { listType, listMapKeys } = schema.extensions
    if (listType === 'set') checkSet(value, path, errors)
    else if (listType === 'map') checkMap(value, listMapKeys, path, errors)
    if (schema.items === undefined || !holdsListTypes(schema.items)) return
    for (const [i, item] of value.entries()) walk(item, schema.items, indexPath(path, i), errors)
  } else if (isObject(value)) {
    const additional = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
    for (const key of Object.keys(value)) {
      const property = schema.properties.get(key)
      if (property !== undefined) walk(value[key]!, property, childPath(path, key), errors)
      else if (additional !== undefined) walk(value[key]!, additional, keyPath(path, key), errors)
    }
  }
}

function checkSet(items: readonly Value[], path: string, errors: FieldError[]): void {
  const seen = new Map<string, number>()
  for (const [i, item] of items.entries()) {
    if (isSecond(seen, identity(item))) errors.push(fieldDuplicate(indexPath(path, i), shown(item)))
  }
}

function checkMap(items: readonly Value[], keys: readonly string[], path: string, errors: FieldError[]): void {
  const seen = new Map<string, number>()
  for (const [i, item] of items.entries()) {
    if (item === null) continue
    if (!isObject(item)) {
      const why = 'must be an object for an array of list-type map'
      errors.push(fieldInvalid(indexPath(path, i), shown(item), why))
      continue
    }
    const key = keysOf(item, keys)
    // One key is compared as a scalar, several are compared as they print.
    const single = keys.length === 1 ? getOwn(key, keys[0]!) : undefined
    const text = single === undefined ? encodeJson(key, { sortKeys: true }) : identity(single)
    if (isSecond(seen, text)) errors.push(fieldDuplicate(indexPath(path, i), shown(key)))
  }
}

function isSecond(seen: Map<string, number>, key: string): boolean {
  const times = (seen.get(key) ?? 0) + 1
  seen.set(key, times)
  return times === 2
}

function keysOf(item: ValueObject, keys: readonly string[]): ValueObject {
  const found: ValueObject = {}
  for (const key of keys) {
    const value = getOwn(item, key)
    if (value !== undefined) setOwn(found, key, value)
  }
  return found
}

/** Compounds are alike if they print alike; of scalars, 1 and 1.0 are two. */
const identity = (item: Value): string =>
  item instanceof WholeFloat ? `float ${item.value}` : encodeJson(item, { sortKeys: true })

const holdsListTypes = ({ below }: Schema): boolean => (below & BELOW.listType) !== 0
