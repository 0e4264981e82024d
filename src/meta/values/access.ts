// Short ways into decoded objects. Types were checked when the object was decoded, so that a member is either what
// its type says or not there.
import { copyValue, getOwn, isObject, type Value, type ValueObject } from './value.js'

const NOTHING: ValueObject = Object.freeze({})

/** The object at that member; an empty one that must not be changed if there is none. */
export const objectAt = (object: ValueObject, name: string): ValueObject => {
  const value = getOwn(object, name)
  return isObject(value) ? value : NOTHING
}

export const objectOrNone = (object: ValueObject, name: string): ValueObject | undefined => {
  const value = getOwn(object, name)
  return isObject(value) ? value : undefined
}

/** The objects of a list; none if there is no list. */
export const objectsAt = (object: ValueObject, name: string): readonly ValueObject[] => {
  const value = getOwn(object, name)
  return Array.isArray(value) ? value.filter(isObject) : []
}

export const stringsAt = (object: ValueObject, name: string): readonly string[] => {
  const value = getOwn(object, name)
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

/** The text at that member; empty if there is none. */
export const stringAt = (object: ValueObject, name: string): string => {
  const value = getOwn(object, name)
  return typeof value === 'string' ? value : ''
}

/** The number at that member; 0 if there is none. */
export const numberAt = (object: ValueObject, name: string): number => {
  const value = getOwn(object, name)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0
}

export const numberOrNone = (object: ValueObject, name: string): number | undefined => {
  const value = getOwn(object, name)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}

/** The texts of a map. */
export const mapAt = (object: ValueObject, name: string): Readonly<Record<string, string>> =>
  objectAt(object, name) as Readonly<Record<string, string>>

export const has = (object: ValueObject, name: string): boolean => {
  const value = getOwn(object, name)
  return value !== undefined && value !== null
}

/** The object at that member, made if there is none. */
export function ensureObject(object: ValueObject, name: string): ValueObject {
  const value = getOwn(object, name)
  if (isObject(value)) return value
  const made: ValueObject = {}
  object[name] = made
  return made
}

/** Sets a member that is not there, or is an empty text or zero where that counts as not there. */
export function setDefault(object: ValueObject, name: string, value: Value, emptyCounts = true): void {
  const found = getOwn(object, name)
  if (found === undefined || found === null || (emptyCounts && (found === '' || found === 0))) object[name] = value
}

/** Takes a member from the old object, or away if that has none. */
export function keepFrom(object: ValueObject, old: ValueObject, name: string): void {
  const before = getOwn(old, name)
  if (before === undefined) delete object[name]
  else object[name] = copyValue(before)
}
