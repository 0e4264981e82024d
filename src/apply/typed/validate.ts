// Whether a value is one of its type, as far as merging must know.
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
  type TypedFault,
  tooDeep,
  undeclared,
  wrongForm,
} from './typed-errors.js'

export interface CheckOptions {
  /** Lists that are stored may hold items twice; a configuration must not. */
  readonly allowDuplicates: boolean
  /** How deep in its object the value is. */
  readonly depth?: number
}

/** Throws a TypedError. */
export function checkTyped(type: MergeType, value: Value, { allowDuplicates, depth = 0 }: CheckOptions): void {
  const errors = check(type, value, allowDuplicates, depth)
  if (errors !== NONE) throw new TypedError(errors)
}

// Paths are put together on the way up, and only where there is something to tell.
const NONE: readonly TypedFault[] = []

function check(type: MergeType, value: Value, allowDuplicates: boolean, depth: number): readonly TypedFault[] {
  if (typeof value === 'string' && type.scalar === 'string') return NONE
  if (depth > MAX_DEPTH) return [tooDeep()]
  switch (resolveShape(type, shapeOf(type, value))) {
    case 'scalar':
      return checkScalar(type.scalar!, value)
    case 'list':
      if (value === null) return NONE
      if (!Array.isArray(value)) return [wrongForm('list', value)]
      return checkItems(type.list!, value, allowDuplicates, depth)
    case 'map':
      if (value === null) return NONE
      if (!isObject(value)) return [wrongForm('map', value)]
      return checkMembers(type.map!, value, allowDuplicates, depth)
  }
}

function checkScalar(type: ScalarType, value: Value): readonly TypedFault[] {
  if (value === null) return NONE
  switch (type) {
    case 'string':
      return typeof value === 'string' ? NONE : [noString(value)]
    case 'numeric':
      return isNumber(value) ? NONE : [noNumber(value)]
    case 'boolean':
      return typeof value === 'boolean' ? NONE : [wrongForm('boolean', value)]
    case 'untyped':
      return isObject(value) || Array.isArray(value) ? [wrongForm('any scalar', value)] : NONE
  }
}

function checkItems(
  list: MergeList,
  items: readonly Value[],
  allowDuplicates: boolean,
  depth: number,
): readonly TypedFault[] {
  const errors: TypedFault[] = []
  const isAtomic = list.type === 'atomic'
  const seen = isAtomic || allowDuplicates ? undefined : new Set<string>()
  for (let i = 0; i < items.length; i++) {
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
): readonly TypedFault[] {
  let errors: TypedFault[] | undefined
  for (const name of Object.keys(object)) {
    const type = map.field(name) ?? map.element
    const inner = type === undefined ? [undeclared()] : check(type, object[name]!, allowDuplicates, depth + 1)
    if (inner === NONE) continue
    errors ??= []
    addWithin(errors, printElement(fieldElement(name)), inner)
    if (type === undefined) break
  }
  return errors ?? NONE
}

/** One by one: there may be as many as a request has room for. */
function addWithin(errors: TypedFault[], outer: string, inner: readonly TypedFault[]): void {
  for (const { path, message } of inner) errors.push({ path: `${outer}${path}`, message })
}
