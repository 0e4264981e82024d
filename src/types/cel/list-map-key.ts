// The identity of an item in a list map.
import { getOwn, isObject, type Value } from '../../meta/values/value.js'

/**
 * Equal for items with the same keys; undefined for values that can be no item. A key that is left out has its default.
 */
export function listMapKey(
  item: Value,
  keys: readonly string[],
  defaultOf: (key: string) => Value | undefined,
): string | undefined {
  if (!isObject(item)) return undefined
  return keys.map(key => scalarKey(getOwn(item, key) ?? defaultOf(key))).join('\u0000')
}

/** Differs between values of different types: 1 is not "1". */
const scalarKey = (value: Value | undefined): string =>
  value === undefined ? '' : `${typeof value}:${JSON.stringify(typeof value === 'bigint' ? String(value) : value)}`
