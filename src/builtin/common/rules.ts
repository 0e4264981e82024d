// Validation rules as data: a kind lists its rules, and the errors come in the order of the list. Clients see that
// order in messages and causes, so nothing here sorts. What no rule of this file can express is a function, put at its
// place in the list with `check`.

import {
  asStruct,
  asTypedText,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import type { NameRule } from '../../meta/object/names.js'
import { has, numberOrNone, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { asGiven, isGivenEmpty } from '../../meta/values/given-empty.js'
import { firstByKey } from '../../meta/values/list-keys.js'
import { getOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { checkAtLeast, checkOneOf, checkText, sameValue } from './field-checks.js'
import { asGoField, asSelector } from './go-struct.js'

/** Adds what is wrong with a value to the errors. `old` is what the value was before an update; a create has none. */
export type Rule = (value: ValueObject, old: ValueObject | undefined, path: string, errors: FieldError[]) => void

/** The errors of a value by a list of rules, in the order of the list. */
export function run(rules: readonly Rule[], value: ValueObject, old?: ValueObject, path = ''): FieldError[] {
  const errors: FieldError[] = []
  apply(rules, value, old, path, errors)
  return errors
}

const apply = (
  rules: readonly Rule[],
  value: ValueObject,
  old: ValueObject | undefined,
  path: string,
  errors: FieldError[],
): void => {
  for (const rule of rules) rule(value, old, path, errors)
}

// ---- functions among the rules

/** What a list cannot express. The function gets the value, its path and, in an update, the old value. */
export const check =
  (fn: (value: ValueObject, path: string, old: ValueObject | undefined) => readonly FieldError[]): Rule =>
  (value, old, path, errors) => {
    errors.push(...fn(value, path, old))
  }

/** A comparison with the old value; it does not apply to a create. */
export const checkUpdate = (fn: (value: ValueObject, old: ValueObject, path: string) => readonly FieldError[]): Rule =>
  check((value, path, old) => (old === undefined ? [] : fn(value, old, path)))

/** Rules that apply only to values for which the condition holds. */
export const when =
  (condition: (value: ValueObject, old: ValueObject | undefined) => boolean, rules: readonly Rule[]): Rule =>
  (value, old, path, errors) => {
    if (condition(value, old)) apply(rules, value, old, path, errors)
  }

/** Rules that apply only where the field is there, even if it is empty. */
export const ifSet = (name: string, rules: readonly Rule[]): Rule => when(value => has(value, name), rules)

/** Rules for new objects only: what is stored already is left as it is. */
export const onCreate = (rules: readonly Rule[]): Rule => when((_, old) => old === undefined, rules)

// ---- one field

/** The field must be there, and be neither an empty string nor an empty list. */
export const required =
  (name: string, detail = ''): Rule =>
  (value, _, path, errors) => {
    const given = getOwn(value, name) ?? ''
    const isEmpty = given === '' || (Array.isArray(given) && given.length === 0)
    if (isEmpty) errors.push(fieldRequired(childPath(path, name), detail))
  }

/** The field must not be there. */
export const forbidden =
  (name: string, detail: string): Rule =>
  (value, _, path, errors) => {
    if (has(value, name) || isGivenEmpty(value, name)) errors.push(fieldForbidden(childPath(path, name), detail))
  }

/** One of the values, which the message lists in this order. `required`: an empty value is reported as missing. */
export const oneOf =
  (
    name: string,
    supported: readonly string[],
    options: { readonly required?: boolean; readonly isString?: boolean } = {},
  ): Rule =>
  (value, _, path, errors) => {
    errors.push(...checkOneOf(stringAt(value, name), supported, childPath(path, name), options))
  }

/** The same for a field that may be absent or empty. */
export const optionalOneOf =
  (name: string, supported: readonly string[]): Rule =>
  (value, _, path, errors) => {
    const given = stringAt(value, name)
    if (given !== '' && !supported.includes(given)) {
      errors.push(fieldNotSupported(childPath(path, name), given, supported))
    }
  }

/** A number of at least `least`. An absent field is left alone. */
export const min =
  (name: string, least: number): Rule =>
  (value, _, path, errors) => {
    const given = numberOrNone(value, name)
    if (given !== undefined) errors.push(...checkAtLeast(given, least, childPath(path, name)))
  }

/** Several fields, each at least 0. */
export const notNegative =
  (...names: readonly string[]): Rule =>
  (value, old, path, errors) => {
    for (const name of names) min(name, 0)(value, old, path, errors)
  }

/** A number between two bounds. An absent field counts as 0. */
export const range =
  (name: string, least: number, most: number): Rule =>
  (value, _, path, errors) => {
    const given = numberOrNone(value, name) ?? 0
    if (given < least || given > most) {
      errors.push(fieldInvalid(childPath(path, name), given, `must be between ${least} and ${most}, inclusive`))
    }
  }

/** A string that keeps to a name rule. Empty is allowed unless `required`. */
export const format =
  (field: string, rule: NameRule, { required: isRequired = false } = {}): Rule =>
  (value, _, path, errors) => {
    const given = stringAt(value, field)
    const at = childPath(path, field)
    if (given !== '') errors.push(...checkText(given, rule, at))
    else if (isRequired) errors.push(fieldRequired(at))
  }

/** The same for a field that may be absent; an empty string must keep to the rule, too. */
export const formatIfSet =
  (field: string, rule: NameRule): Rule =>
  (value, _, path, errors) => {
    if (has(value, field)) errors.push(...checkText(stringAt(value, field), rule, childPath(path, field)))
  }

/** A string of no more bytes than that. */
export const maxBytes =
  (field: string, most: number): Rule =>
  (value, _, path, errors) => {
    if (Buffer.byteLength(stringAt(value, field)) > most) errors.push(fieldTooLong(childPath(path, field), most))
  }

/**
 * The field may not change in an update. `selector`: the value is a label selector. `typed`: a text has a type of its own there, or is behind a pointer. `of`: the type that has the
 * field; the message shows a value that is not set as Go does.
 */
export const immutable =
  (
    field: string,
    {
      selector = false,
      typed = false,
      of,
      detail = 'field is immutable',
    }: { selector?: boolean; typed?: boolean; of?: string; detail?: string } = {},
  ): Rule =>
  (value, old, path, errors) => {
    if (old === undefined) return
    if (sameValue(getOwn(value, field), getOwn(old, field))) return
    const given = asGiven(value, field)
    const plain = typed && typeof given === 'string' ? asTypedText(given) : given
    const shown = of === undefined ? plain : asGoField(of, value, field)
    errors.push(fieldInvalid(childPath(path, field), selector ? asSelector(given) : shown, detail))
  }

// ---- lists

export const maxItems =
  (field: string, most: number): Rule =>
  (value, _, path, errors) => {
    const items = getOwn(value, field)
    if (Array.isArray(items) && items.length > most) {
      errors.push(fieldTooMany(childPath(path, field), items.length, most))
    }
  }

/**
 * No two items with the same keys. With one key the error is at the field of the repeated item (`ports[1].name`), with
 * several at the item. Items without any of the keys are left alone.
 */
export const unique =
  (field: string, keys: readonly string[]): Rule =>
  (value, _, path, errors) => {
    const seen = new Set<string>()
    for (const [i, item] of objectsAt(value, field).entries()) {
      const own: Value[] = keys.map(key => getOwn(item, key) ?? null)
      if (own.every(each => each === null || each === '')) continue
      const id = JSON.stringify(own)
      const at = indexPath(childPath(path, field), i)
      if (seen.has(id)) {
        errors.push(
          keys.length === 1 ? fieldDuplicate(childPath(at, keys[0]!), own[0]) : fieldDuplicate(at, asStruct(item)),
        )
      }
      seen.add(id)
    }
  }

/** Rules for each object of a list. `key`: the member that finds an item's old value; without it items have none. */
export const each =
  (field: string, rules: readonly Rule[], { key }: { readonly key?: string } = {}): Rule =>
  (value, old, path, errors) => {
    const idOf = (item: ValueObject): string => JSON.stringify(getOwn(item, key!) ?? null)
    const before = key === undefined || old === undefined ? undefined : firstByKey(objectsAt(old, field), idOf)
    for (const [i, item] of objectsAt(value, field).entries()) {
      apply(rules, item, before?.get(idOf(item)), indexPath(childPath(path, field), i), errors)
    }
  }

/** A function for each string of a list. */
export const eachString =
  (field: string, fn: (text: string, path: string) => readonly FieldError[]): Rule =>
  (value, _, path, errors) => {
    for (const [i, text] of stringsAt(value, field).entries()) {
      errors.push(...fn(text, indexPath(childPath(path, field), i)))
    }
  }

// ---- objects within objects

/** Rules for an object at a field. An absent object counts as an empty one, as a Go struct does. */
export const field =
  (name: string, rules: readonly Rule[]): Rule =>
  (value, old, path, errors) => {
    apply(rules, objectAt(value, name), old && objectAt(old, name), childPath(path, name), errors)
  }

/** The same for an object that may be absent, as a pointer may be nil: then its rules do not apply. */
export const optional =
  (name: string, rules: readonly Rule[]): Rule =>
  (value, old, path, errors) => {
    const given = objectOrNone(value, name)
    if (given !== undefined) apply(rules, given, old && objectOrNone(old, name), childPath(path, name), errors)
  }

/** The rules of the variant that a field names. `otherwise` applies to a value that names none of them. */
export const union =
  (name: string, variants: Readonly<Record<string, readonly Rule[]>>, otherwise: readonly Rule[] = []): Rule =>
  (value, old, path, errors) => {
    const given = stringAt(value, name)
    apply(Object.hasOwn(variants, given) ? variants[given]! : otherwise, value, old, path, errors)
  }
