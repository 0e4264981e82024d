// A configuration merged into an object, without owners of fields. Admission policies change objects this way.

import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { type MergeType, mergeTypeOf, resolveShape, shapeOf } from '../types/merge.js'
import type { Type } from '../types/type.js'
import { fieldElement, indexElement, type PathElement, printPath } from './paths/field-path.js'
import { mergeTyped } from './typed/merge.js'
import { TypedError } from './typed/typed-errors.js'
import { checkTyped } from './typed/validate.js'

/** Why a configuration cannot be merged. */
export class MergeError extends Error {}

/**
 * The object with the values of the configuration. Values that are owned as one cannot be in it, because fields that
 * the configuration leaves out would be removed. Throws a MergeError.
 */
export function mergeConfiguration(type: Type, live: ValueObject, applied: ValueObject): Value {
  const mergeType = mergeTypeOf(type)
  check(mergeType, applied, false, 'failed to convert patch object to typed object')
  const atomics = findAtomics(mergeType, applied, [])
  if (atomics.length > 0) {
    const shown = atomics.join(', ')
    throw new MergeError(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${shown}`)
  }
  check(mergeType, live, true, 'failed to convert original object to typed object')
  return mergeTyped(mergeType, live, applied)
}

function check(type: MergeType, value: Value, allowDuplicates: boolean, what: string): void {
  try {
    checkTyped(type, value, { allowDuplicates })
  } catch (error) {
    if (error instanceof TypedError) throw new MergeError(`${what}: ${error.message}`)
    throw error
  }
}

/** The paths of lists and maps in the value that have one owner. */
function findAtomics(type: MergeType, value: Value, path: readonly PathElement[]): string[] {
  const shape = resolveShape(type, shapeOf(type, value))
  if (shape === 'map' && isObject(value)) {
    const { map } = type
    const below = Object.keys(value).flatMap(name => {
      const field = map!.field(name)
      return field ? findAtomics(field, value[name]!, [...path, fieldElement(name)]) : []
    })
    return map!.isAtomic ? [printPath(path), ...below] : below
  }
  if (shape === 'list' && Array.isArray(value)) {
    const { list } = type
    const below = value.flatMap((item, i) => findAtomics(list!.element, item, [...path, indexElement(i)]))
    return list!.type === 'atomic' ? [printPath(path), ...below] : below
  }
  return []
}
