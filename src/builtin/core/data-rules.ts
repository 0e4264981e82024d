// Rules that config maps and secrets share: the keys of their data, its size, and `immutable`.
import { type FieldError, fieldForbidden, keyPath } from '../../meta/errors/field-errors.js'
import { checkConfigKey } from '../../meta/object/names.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { isGivenEmpty } from '../../meta/values/given-empty.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkText } from '../common/field-checks.js'
import { checkUpdate, type Rule } from '../common/rules.js'

/** The limit for all values of an object together, in bytes. */
export const MAX_DATA_SIZE = 1024 * 1024

export const checkKey = (field: string, key: string): FieldError[] =>
  checkText(key, checkConfigKey, keyPath(field, key))

/** The number of bytes that base64 text stands for. */
const decodedSize = (base64: string): number => Math.floor((base64.replace(/=+$/, '').length * 3) / 4)

/** The size of all values of a map of base64 texts. */
export const binarySize = (data: ValueObject): number =>
  Object.keys(data).reduce((size, key) => size + decodedSize(stringAt(data, key)), 0)

export const sizeOf = (object: ValueObject, field: string): number => Object.keys(objectAt(object, field)).length

/** Fields that cannot change once `immutable` is true, which cannot be taken back. */
export const immutableData = (...fields: readonly string[]): Rule =>
  checkUpdate((object, old) => {
    if (getOwn(old, 'immutable') !== true) return []
    const forbidden = (field: string): FieldError => fieldForbidden(field, 'field is immutable when `immutable` is set')
    return [
      ...(getOwn(object, 'immutable') === true ? [] : [forbidden('immutable')]),
      // An empty map in the place of none is a change.
      ...fields
        .filter(field => isGivenEmpty(object, field) || !equalValues(objectAt(object, field), objectAt(old, field)))
        .map(forbidden),
    ]
  })
