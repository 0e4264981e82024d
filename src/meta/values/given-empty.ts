// Which lists, maps and bytes of a decoded object were given, but empty. Go's types distinguish an empty list from none until the
// object is stored, and then print neither. Here an empty list counts as none, and the object that would hold it remembers its
// name, for the few rules that ask and for messages. The memory is a member under a symbol: `{ ...object }` and `copyValue` keep
// it, while encoders and comparisons do not see it.
import { GIVEN_EMPTY, getOwn, isObject, type Value, type ValueObject } from './value.js'

export type EmptyValue = readonly [] | Readonly<Record<string, never>> | ''

/** Names of fields, each with the empty value that was given. */
type EmptyFields = Readonly<Record<string, EmptyValue>>

type Marked = ValueObject & { [GIVEN_EMPTY]?: EmptyFields }

export function markGivenEmpty(object: ValueObject, fields: EmptyFields): void {
  ;(object as Marked)[GIVEN_EMPTY] = fields
}

export const fieldsGivenEmpty = (object: ValueObject): EmptyFields | undefined => (object as Marked)[GIVEN_EMPTY]

/** For copies that are made member by member. */
export function keepGivenEmpty(from: ValueObject, to: ValueObject): void {
  const fields = fieldsGivenEmpty(from)
  if (fields !== undefined) markGivenEmpty(to, fields)
}

/** Whether the client gave an empty list or map for a field, which now has no value. */
export const isGivenEmpty = (object: ValueObject, name: string): boolean => givenEmpty(object, name) !== undefined

/** The same of a field that a default may have filled since. */
export const wasGivenEmpty = (object: ValueObject, name: string): boolean => {
  const fields = fieldsGivenEmpty(object)
  return fields !== undefined && Object.hasOwn(fields, name)
}

/** The value of a field as the client gave it: with an empty list or map, null if there is none. */
export const asGiven = (object: ValueObject, name: string): Value =>
  getOwn(object, name) ?? givenEmpty(object, name) ?? null

function givenEmpty(object: ValueObject, name: string): Value | undefined {
  const fields = fieldsGivenEmpty(object)
  if (fields === undefined || !Object.hasOwn(fields, name) || (getOwn(object, name) ?? null) !== null) return undefined
  if (fields[name] === '') return ''
  return Array.isArray(fields[name]) ? [] : {}
}

/**
 * Only structs are marked, and they are not nested deeper than this: what is deeper is JSON of any form (the fields of a
 * manager, the data of a ControllerRevision), which may be too deep for recursion.
 */
export const MAX_MARKED_DEPTH = 1_000

/** Whether any list or map within the value was given empty. */
export function hasGivenEmpty(value: Value | undefined, depth = 0): boolean {
  if (depth > MAX_MARKED_DEPTH) return false
  if (Array.isArray(value)) return value.some(item => hasGivenEmpty(item, depth + 1))
  if (!isObject(value)) return false
  const fields = fieldsGivenEmpty(value)
  return (
    (fields !== undefined && Object.keys(fields).some(name => isGivenEmpty(value, name))) ||
    Object.values(value).some(member => hasGivenEmpty(member, depth + 1))
  )
}
