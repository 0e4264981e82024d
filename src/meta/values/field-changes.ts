// The fields in which two values of one object differ.
import { equalValues, isObject, type Value } from './value.js'

export interface FieldChange {
  /** `spec.containers[0].image`. */
  readonly field: string
  readonly before: Value | undefined
  readonly after: Value | undefined
}

/** Fields that change with every write and say nothing about it. */
const NOT_SHOWN = new Set(['metadata.managedFields', 'metadata.resourceVersion', 'metadata.generation'])

/** Lists of another length differ as a whole. */
export function changesBetween(before: Value | undefined, after: Value | undefined, at = ''): readonly FieldChange[] {
  if (NOT_SHOWN.has(at) || equalValues(before, after)) return []
  if (isObject(before) && isObject(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap(name =>
      changesBetween(before[name], after[name], at === '' ? name : `${at}.${name}`),
    )
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((each, i) => changesBetween(each, after[i], `${at}[${i}]`))
  }
  return [{ field: at, before, after }]
}
