// Checks that a value is of its type, as far as merging depends on it.
import { MAX_FOUND } from '../../meta/errors/error-limit.js'
import { isNumber, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import {
  type MergeList,
  type MergeMap,
  type MergeType,
  resolveShape,
  type ScalarType,
  shapeOf,
} from '../../types/merge.js'
import { fieldElement, indexElement, printElement } from '../paths/field-path.js'
import { elementOf, hasElement, itemElement } from './list-items.js'
import {
  error,
  MAX_DEPTH,
  noNumber,
  noString,
  TypedError,
  type TypeMismatch,
  tooDeep,
  undeclared,
  wrongShape,
} from './typed-errors.js'

export interface CheckOptions {
  /** Stored lists may hold duplicates; a configuration may not. */
  readonly allowDuplicates: boolean
  /** The depth of the value in its object. */
  readonly depth?: number
}

/** Throws a TypedError. */
export function checkTyped(type: MergeType, value: Value, { allowDuplicates, depth = 0 }: CheckOptions): void {
  const errors = check(type, value, allowDuplicates, depth)
  if (errors !== NONE) throw new TypedError(errors)
}

// Paths are built on the way up, and only if there are errors.
const NONE: readonly TypeMismatch[] = []

function check(type: MergeType, value: Value, allowDuplicates: boolean, depth: number): readonly TypeMismatch[] {
  if (typeof value === 'string' && type.scalar === 'string') return NONE
  if (depth > MAX_DEPTH) return [tooDeep()]
  switch (resolveShape(type, shapeOf(type, value))) {
    case 'scalar':
      return checkScalar(type.scalar!, value)
    case 'list':
      if (value === null) return NONE
      if (!Array.isArray(value)) return [wrongShape('list', value)]
      return checkItems(type.list!, value, allowDuplicates, depth)
    case 'map':
      if (value === null) return NONE
      if (!isObject(value)) return [wrongShape('map', value)]
      return checkMembers(type.map!, value, allowDuplicates, depth)
  }
}

function checkScalar(type: ScalarType, value: Value): readonly TypeMismatch[] {
  if (value === null) return NONE
  switch (type) {
    case 'string':
      return typeof value === 'string' ? NONE : [noString(value)]
    case 'numeric':
      return isNumber(value) ? NONE : [noNumber(value)]
    case 'boolean':
      return typeof value === 'boolean' ? NONE : [wrongShape('boolean', value)]
    case 'untyped':
      return isObject(value) || Array.isArray(value) ? [wrongShape('any scalar', value)] : NONE
  }
}

function checkItems(
  list: MergeList,
  items: readonly Value[],
  allowDuplicates: boolean,
  depth: number,
): readonly TypeMismatch[] {
  const errors: TypeMismatch[] = []
  const isAtomic = list.type === 'atomic'
  const seen = isAtomic || allowDuplicates ? undefined : new Set<string>()
  for (let i = 0; i < items.length && errors.length < MAX_FOUND; i++) {
    const item = items[i]!
    if (!isAtomic && (seen || !hasElement(list, item))) {
      const element = itemElement(list, item)
      if (!element.ok) {
        errors.push(error(`element ${i}: ${element.error}`))
        break
      }
      if (seen?.has(element.value)) errors.push(error(`duplicate entries for key ${printElement(element.value)}`))
      seen?.add(element.value)
    }
    const inner = check(list.element, item, allowDuplicates, depth + 1)
    if (inner !== NONE) addWithin(errors, printElement(isAtomic ? indexElement(i) : elementOf(list, item)), inner)
  }
  return errors.length === 0 ? NONE : errors
}

function checkMembers(
  map: MergeMap,
  object: ValueObject,
  allowDuplicates: boolean,
  depth: number,
): readonly TypeMismatch[] {
  let errors: TypeMismatch[] | undefined
  for (const name of Object.keys(object)) {
    const type = map.field(name) ?? map.element
    const inner = type === undefined ? [undeclared()] : check(type, object[name]!, allowDuplicates, depth + 1)
    if (inner === NONE) continue
    errors ??= []
    addWithin(errors, printElement(fieldElement(name)), inner)
    if (type === undefined || errors.length >= MAX_FOUND) break
  }
  return errors ?? NONE
}

/** One by one: their number is limited only by the size of a request. */
function addWithin(errors: TypeMismatch[], outer: string, inner: readonly TypeMismatch[]): void {
  for (const { path, message } of inner) errors.push({ path: `${outer}${path}`, message })
}
