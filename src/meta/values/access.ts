// Accessors for members of decoded objects. Types were checked when the object was decoded, so a member has its type or
// is absent.
import { copyValue, getOwn, isObject, type Value, type ValueObject } from './value.js'

const NOTHING: ValueObject = Object.freeze({})

/** The object at a member; an empty frozen one if it is absent. */
export const objectAt = (object: ValueObject, name: string): ValueObject => {
  const value = getOwn(object, name)
  return isObject(value) ? value : NOTHING
}

export const objectOrNone = (object: ValueObject, name: string): ValueObject | undefined => {
  const value = getOwn(object, name)
  return isObject(value) ? value : undefined
}

/** The objects of a list; none if it is absent. */
export const objectsAt = (object: ValueObject, name: string): readonly ValueObject[] => {
  const value = getOwn(object, name)
  return Array.isArray(value) ? value.filter(isObject) : []
}

export const stringsAt = (object: ValueObject, name: string): readonly string[] => {
  const value = getOwn(object, name)
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

/** The string at a member; empty if it is absent. */
export const stringAt = (object: ValueObject, name: string): string => {
  const value = getOwn(object, name)
  return typeof value === 'string' ? value : ''
}

/** The number at a member; 0 if it is absent. */
export const numberAt = (object: ValueObject, name: string): number => {
  const value = getOwn(object, name)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0
}

export const numberOrNone = (object: ValueObject, name: string): number | undefined => {
  const value = getOwn(object, name)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}

/** The strings of a map. */
export const mapAt = (object: ValueObject, name: string): Readonly<Record<string, string>> =>
  objectAt(object, name) as Readonly<Record<string, string>>

export const has = (object: ValueObject, name: string): boolean => {
  const value = getOwn(object, name)
  return value !== undefined && value !== null
}

/** The object at a member, created if it is absent. */
export function ensureObject(object: ValueObject, name: string): ValueObject {
  const value = getOwn(object, name)
  if (isObject(value)) return value
  const made: ValueObject = {}
  object[name] = made
  return made
}

/** Sets a member that is absent, or (with `emptyCounts`) an empty string or zero. */
export function setDefault(object: ValueObject, name: string, value: Value, emptyCounts = true): void {
  const found = getOwn(object, name)
  if (found === undefined || found === null || (emptyCounts && (found === '' || found === 0))) object[name] = value
}

/** Copies a member from the old object, or deletes it if the old object has none. */
export function keepFrom(object: ValueObject, old: ValueObject, name: string): void {
  const before = getOwn(old, name)
  if (before === undefined) delete object[name]
  else object[name] = copyValue(before)
}
