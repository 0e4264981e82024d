// Objects with the empty lists and maps that their fields were given (see meta/values/given-empty.ts), by type.
import { asGiven, MAX_MARKED_DEPTH } from '../meta/values/given-empty.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import type { Type } from './type.js'

/** The object with the empty lists and maps that were given in the place of null; the same object if there are none. */
export const withGivenEmpty = (type: Type, value: ValueObject): ValueObject => shownIn(type, value, 0) as ValueObject

/** Without a type if it is not known. */
function shownIn(type: Type | undefined, value: Value, depth: number): Value {
  if (depth > MAX_MARKED_DEPTH) return value
  if (Array.isArray(value)) {
    const items = value.map(item => shownIn(type?.element, item, depth + 1))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (!isObject(value)) return value
  let changed: ValueObject | undefined
  for (const name of Object.keys(value)) {
    const member = value[name]!
    if (typeof member !== 'object') continue
    const inner = type?.fields.get(name)?.type ?? type?.element
    if (member !== null && holdsScalars(inner)) continue
    const shown = member === null ? asGiven(value, name) : shownIn(inner, member, depth + 1)
    if (shown !== member) (changed ??= { ...value })[name] = shown
  }
  return changed ?? value
}

/** A list or map of these has no part with fields. It may have very many members. */
const holdsScalars = (type: Type | undefined): boolean => type?.element !== undefined && SCALARS.has(type.element.kind)

const SCALARS: ReadonlySet<string> = new Set<Type['kind']>(['string', 'bool', 'int32', 'int64', 'float64', 'bytes'])
