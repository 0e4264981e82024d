// Fields of an object by a path in dots, `.spec.replicas`, as the scale subresource reads and writes them.

import { failed, parsed, type Result } from '../../base/result.js'
import { goTypeOf, printPlain } from '../../meta/go/go-text.js'
import { isInteger, isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'

export const fieldsOf = (path: string): readonly string[] => path.replace(/^\./, '').split('.')

/** Undefined if there is none; an error if something else than an object is in the way. */
export function nestedValue(object: ValueObject, fields: readonly string[]): Result<Value | undefined> {
  let value: Value = object
  for (const [i, field] of fields.entries()) {
    if (value === null) return parsed(undefined)
    if (!isObject(value)) return failed(mismatch(fields.slice(0, i + 1), value, 'map[string]interface{}'))
    if (!Object.hasOwn(value, field)) return parsed(undefined)
    value = value[field]!
  }
  return parsed(value)
}

export function nestedInteger(object: ValueObject, path: string): Result<number | bigint | undefined> {
  const fields = fieldsOf(path)
  const found = nestedValue(object, fields)
  if (!found.ok) return found
  const { value } = found
  return value === undefined || isInteger(value) ? parsed(value) : failed(mismatch(fields, value, 'int64'))
}

export function nestedText(object: ValueObject, path: string): Result<string | undefined> {
  const fields = fieldsOf(path)
  const found = nestedValue(object, fields)
  if (!found.ok) return found
  const { value } = found
  return value === undefined || typeof value === 'string' ? parsed(value) : failed(mismatch(fields, value, 'string'))
}

/** The object with a field set, what is missing on the way made; nothing that it shares is changed. */
export function withNested(object: ValueObject, fields: readonly string[], value: Value): ValueObject {
  const [field = '', ...rest] = fields
  const copy = { ...object }
  const below = isObject(copy[field]) ? copy[field] : {}
  setOwn(copy, field, rest.length === 0 ? value : withNested(below, rest, value))
  return copy
}

const mismatch = (fields: readonly string[], value: Value, expected: string): string =>
  `.${fields.join('.')} accessor error: ${printPlain(value)} is of the type ${goTypeOf(value)}, expected ${expected}`
