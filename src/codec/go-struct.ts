// Reads JSON into the structs that Go's decoder would fill, with its messages. Of several errors the first in the document
// counts.
import { jsonTypeOf } from '../meta/go/go-text.js'
import { isInteger, isNumber, isObject, spellNumber, type Value, type ValueObject } from '../meta/values/value.js'

/** A value that is not of the type of its field. */
export class GoStructError extends Error {}

/** The field of a value: `{ struct: 'Status', path: 'response.status.code' }`. */
export interface GoField {
  readonly struct: string
  readonly path: string
}

/** Throws a GoStructError. What is read as undefined is left out of its struct. */
export type GoReader<T> = (value: Value, field: GoField) => T

type Members<T> = { readonly [Name in keyof T]: GoReader<T[Name]> }

const INTEGERS: ReadonlySet<string> = new Set(['int32', 'int64', 'uint8'])

export function goTypeError(value: Value, { struct, path }: GoField, goType: string): GoStructError {
  // Where an integer is expected, Go shows which number was found.
  const shown = INTEGERS.has(goType) && isNumber(value) ? `number ${spellNumber(value)}` : jsonTypeOf(value)
  return new GoStructError(`json: cannot unmarshal ${shown} into Go struct field ${struct}.${path} of type ${goType}`)
}

/** A struct. Members that it has not, and members that are null, are left out. */
export function goStruct<T extends object>(goType: string, members: Members<T>): GoReader<Partial<T>> {
  const struct = goType.slice(goType.indexOf('.') + 1)
  return (value, field) => {
    if (!isObject(value)) throw goTypeError(value, field, goType)
    return readMembers(value, struct, field.path, members)
  }
}

/** The members of a whole document, whose struct has that name. */
export const readStruct = <T extends object>(document: ValueObject, struct: string, members: Members<T>): Partial<T> =>
  readMembers(document, struct, '', members)

function readMembers<T extends object>(
  object: ValueObject,
  struct: string,
  path: string,
  members: Members<T>,
): Partial<T> {
  const read = new Map<string, unknown>()
  for (const [name, value] of Object.entries(object)) {
    if (value === null || !Object.hasOwn(members, name)) continue
    const result = members[name as keyof T](value, { struct, path: path === '' ? name : `${path}.${name}` })
    if (result !== undefined) read.set(name, result)
  }
  return Object.fromEntries(
    Object.keys(members).flatMap(name => (read.has(name) ? [[name, read.get(name)]] : [])),
  ) as Partial<T>
}

export const goText =
  (goType = 'string'): GoReader<string> =>
  (value, field) => {
    if (typeof value !== 'string') throw goTypeError(value, field, goType)
    return value
  }

export const goBool: GoReader<boolean> = (value, field) => {
  if (typeof value !== 'boolean') throw goTypeError(value, field, 'bool')
  return value
}

export const goInt32: GoReader<number> = (value, field) => {
  if (!isInteger(value) || value > 2 ** 31 - 1 || value < -(2 ** 31)) throw goTypeError(value, field, 'int32')
  return Number(value)
}

export const goInt64: GoReader<number | bigint> = (value, field) => {
  if (!isInteger(value)) throw goTypeError(value, field, 'int64')
  return value
}

/** A list of values that may be null, `empty` in their place. */
export const goList =
  <T>(goType: string, item: GoReader<T>, empty: T): GoReader<T[]> =>
  (value, field) => {
    if (!Array.isArray(value)) throw goTypeError(value, field, goType)
    return value.map(each => (each === null ? empty : item(each, field)))
  }

export const goTexts: GoReader<string[]> = goList('[]string', goText(), '')

export const goTextMap: GoReader<Record<string, string>> = (value, field) => {
  if (!isObject(value)) throw goTypeError(value, field, 'map[string]string')
  const text = goText()
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, each === null ? '' : text(each, field)]))
}

/** Of a field that is left out when it is empty. */
export const omitEmpty =
  <T>(reader: GoReader<T>): GoReader<T> =>
  (value, field) => {
    const read = reader(value, field)
    const isEmpty = read === '' || read === 0 || (Array.isArray(read) && read.length === 0)
    return isEmpty ? (undefined as T) : read
  }

const optionalText = omitEmpty(goText())

/** `v1.Status`, with the members that it has. */
export const goStatus = goStruct('v1.Status', {
  status: goText(),
  message: goText(),
  reason: goText('v1.StatusReason'),
  details: goStruct('v1.StatusDetails', {
    name: optionalText,
    group: optionalText,
    kind: optionalText,
    uid: omitEmpty(goText('types.UID')),
    causes: omitEmpty(
      goList(
        '[]v1.StatusCause',
        goStruct('v1.StatusCause', {
          reason: omitEmpty(goText('v1.CauseType')),
          message: optionalText,
          field: optionalText,
        }),
        {},
      ),
    ),
    retryAfterSeconds: omitEmpty(goInt32),
  }),
  code: goInt32,
  metadata: goStruct('v1.ListMeta', {
    selfLink: optionalText,
    resourceVersion: optionalText,
    continue: optionalText,
    remainingItemCount: goInt64,
  }),
})
