// What a function of a program returns, as a value of the API.

import { setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'

/** An object that contains itself would have no end. */
const MAX_DEPTH = 1000

/** Members that are undefined are dropped, and a Date becomes its text, as JSON.stringify does. Throws an Error. */
export function plainValue(value: unknown, depth = 0): Value {
  if (depth > MAX_DEPTH) throw new Error('the object is nested too deeply, or contains itself')
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint')
    return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (value instanceof WholeFloat) return value
  if (Array.isArray(value)) return value.map(item => (item === undefined ? null : plainValue(item, depth + 1)))
  if (typeof value !== 'object')
    throw new Error(`${typeof value === 'number' ? value : typeof value} is no value of JSON`)
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON === 'function') return plainValue(toJSON.call(value), depth + 1)
  const plain: ValueObject = {}
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) setOwn(plain, key, plainValue(member, depth + 1))
  }
  return plain
}
