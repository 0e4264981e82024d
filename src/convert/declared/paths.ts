// Paths of fields: read, set and removed without changing the object.

import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'

/** Undefined for what is no path, or leads to what a conversion must not change. Keys with dots are in brackets: `a["b.c"]`. */
export function readPath(text: string): readonly string[] | undefined {
  const steps = Array.from(text.matchAll(/(?:^|\.)([^.[\]"]+)|\["([^"]+)"\]/g))
  const path = steps.map(([, name, quoted]) => name ?? quoted!)
  const isWhole = steps.map(([whole]) => whole).join('') === text
  if (!isWhole || path.length === 0) return undefined
  if (path[0] === 'apiVersion' || path[0] === 'kind') return undefined
  if (path[0] === 'metadata' && !(path.length > 2 && (path[1] === 'labels' || path[1] === 'annotations')))
    return undefined
  return path
}

export function getAt(object: ValueObject, path: readonly string[]): Value | undefined {
  let value: Value | undefined = object
  for (const name of path) value = isObject(value) ? getOwn(value, name) : undefined
  return value
}

export function setAt(object: ValueObject, [name, ...rest]: readonly string[], value: Value): ValueObject {
  if (name === undefined) return object
  const inner = getOwn(object, name)
  const next = rest.length === 0 ? value : setAt(isObject(inner) ? inner : {}, rest, value)
  return { ...object, [name]: next }
}

/** Objects that become empty by it go, too, apart from the first. */
export function removeAt(object: ValueObject, [name, ...rest]: readonly string[], depth = 0): ValueObject {
  if (name === undefined) return object
  const inner = getOwn(object, name)
  if (inner === undefined) return object
  const { [name]: _, ...others } = object
  if (rest.length === 0) return others
  if (!isObject(inner)) return object
  const left = removeAt(inner, rest, depth + 1)
  return depth > 0 && Object.keys(left).length === 0 ? others : { ...object, [name]: left }
}
