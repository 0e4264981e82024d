// Limits how many values an object may have, so that no step of a write takes long. The size of a body in bytes is no such
// limit: 3 MiB have room for a million empty structs, each of which is decoded, defaulted, tracked and validated.
// kube-apiserver has no such limit. Etcd's limit of 1.5 MiB for an object makes most objects of this kind impossible there.
import { requestEntityTooLarge } from '../errors/status.js'
import { isObject, type Value } from '../values/value.js'

/** Members of objects and items of lists. Numbers, strings and booleans in lists cost less, and count half. */
export const MAX_VALUES = 100_000

const SCALAR_ITEM = 1 / 2

/** Throws 413 if the value has too many members and items. */
export function checkValueCount(value: Value, max = MAX_VALUES): void {
  if (countValues(value, max) > max) throw tooManyValues()
}

/** The same for an object that admission has changed: defaults and managedFields have been added to what was sent. */
export const checkAdmittedCount = (value: Value): void => checkValueCount(value, 10 * MAX_VALUES)

/** How many values one change may add to an object that is large already. */
const MAX_ADDED = 1000
/** More bytes than that no store takes. */
const MAX_CHANGED_CHARACTERS = 8 * 1024 * 1024

/**
 * Throws 413 if a webhook or an expression has made an object much larger. It is called after each of them, since each may
 * make the object several times as large. `before`: the object before the change.
 */
export function checkChange(value: Value, before: Value): void {
  if (countValues(value, 2 * MAX_VALUES) > 2 * MAX_VALUES) checkValueCount(value, countValues(before) + MAX_ADDED)
  if (countCharacters(value, MAX_CHANGED_CHARACTERS) > MAX_CHANGED_CHARACTERS) {
    throw requestEntityTooLarge(`admission has made an object of more than ${MAX_CHANGED_CHARACTERS} characters`)
  }
}

/** The same for the value of a body. It needs no look at short ones, because a value is at least one byte long. */
export function checkDecodedBody(value: Value, bytes: number): void {
  if (bytes > MAX_VALUES) checkValueCount(value)
}

export const tooManyValues = (): Error =>
  requestEntityTooLarge(`the object has more than ${MAX_VALUES} fields and list items`)

/** Members and items at any depth. Counts no further than to `limit`. */
export function countValues(root: Value, limit = Infinity): number {
  const open: Value[] = [root]
  let count = 0
  for (let value = open.pop(); value !== undefined && count <= limit; value = open.pop()) {
    if (Array.isArray(value)) {
      for (const item of value) {
        const isScalar = typeof item !== 'object'
        count += isScalar ? SCALAR_ITEM : 1
        if (!isScalar && item !== null) open.push(item)
      }
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        const member = value[key]!
        count++
        if (typeof member === 'object' && member !== null) open.push(member)
      }
    }
  }
  return count
}

/** How many characters defaults may add to an object: as much as a body may have. */
export const MAX_DEFAULTED = 3 * 1024 * 1024

export const defaultsTooLong = (): Error =>
  requestEntityTooLarge(`defaults add more than ${MAX_DEFAULTED} characters to the object`)

/** The characters of keys and strings at any depth. Counts no further than to `limit`. */
export function countCharacters(root: Value, limit = Infinity): number {
  if (typeof root === 'string') return root.length
  const open: Value[] = [root]
  let count = 0
  for (let value = open.pop(); value !== undefined && count <= limit; value = open.pop()) {
    if (typeof value === 'string') count += value.length
    else if (Array.isArray(value)) for (const item of value) open.push(item)
    else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        count += key.length
        open.push(value[key]!)
      }
    }
  }
  return count
}
