// The rows of Tables: cells that most kinds have.
import { ageCell } from '../../meta/table.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import type { Value, ValueObject } from '../../meta/values/value.js'

/** The cells of an object's row; `now` in milliseconds. */
export type TableRow = (object: ValueObject, now: number) => Value[]

export const NONE = '<none>'
export const UNKNOWN = '<unknown>'

export const nameOf = (object: ValueObject): string => stringAt(objectAt(object, 'metadata'), 'name')
export const ageOf = (object: ValueObject, now: number): string =>
  ageCell(objectAt(object, 'metadata')['creationTimestamp'], now)
export const createdOf = (object: ValueObject): string => stringAt(objectAt(object, 'metadata'), 'creationTimestamp')

/** Labels as they are written in a selector. */
export function printLabels(labels: Readonly<Record<string, string>>): string {
  const keys = Object.keys(labels).toSorted()
  return keys.length === 0 ? NONE : keys.map(key => `${key}=${labels[key]!}`).join(',')
}
