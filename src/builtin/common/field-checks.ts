// Checks of single values that many rules share. Each gives the errors of one value at one path.
import {
  asString,
  asTypedText,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import type { NameRule } from '../../meta/object/names.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { equalValues, getOwn, type Value, type ValueObject } from '../../meta/values/value.js'

/** Each message of the name rule as an invalid value of the field. */
export const checkText = (text: string, rule: NameRule, path: string): FieldError[] =>
  rule(text).map(error => fieldInvalid(path, text, error))

/** The same for a text that has a type of its own in Go. */
export const checkTypedText = (text: string, rule: NameRule, path: string): FieldError[] =>
  rule(text).map(error => fieldInvalid(path, asTypedText(text), error))

export const checkNotNegative = (value: number, path: string): FieldError[] => checkAtLeast(value, 0, path)

export const checkAtLeast = (value: number, min: number, path: string): FieldError[] =>
  value < min ? [fieldInvalid(path, value, `must be greater than or equal to ${min}`)] : []

export const checkPortNumber = (port: number, path: string): FieldError[] =>
  port >= 1 && port <= 65_535 ? [] : [fieldInvalid(path, port, 'must be between 1 and 65535, inclusive')]

/**
 * One of the supported values. The message lists them in this order. Empty is reported as missing where `required`.
 * `isString`: the value has no type of its own in Go.
 */
export function checkOneOf(
  value: string,
  supported: readonly string[],
  path: string,
  { required = false, isString = false } = {},
): FieldError[] {
  if (supported.includes(value)) return []
  if (value === '' && required) return [fieldRequired(path)]
  return [fieldNotSupported(path, isString ? asString(value) : value, supported)]
}

/** A field that may not change. A text has a type of its own in Go. */
export const checkImmutable = (object: ValueObject, old: ValueObject, name: string, path = name): FieldError[] => {
  if (equalValues(getOwn(object, name), getOwn(old, name))) return []
  const given = asGiven(object, name)
  return [fieldInvalid(path, typeof given === 'string' ? asTypedText(given) : given, 'field is immutable')]
}

/** Equality of values in which an absent value equals null. */
export const sameValue = (a: Value | undefined, b: Value | undefined): boolean => equalValues(a ?? null, b ?? null)
