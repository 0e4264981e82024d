// What is wrong with one field of an object: where, what kind of fault, the value that is at fault, and why.
// A path is a text, built step by step (`spec.containers[0].name`, `metadata.labels[a.b/c]`); empty is the root.
import { printJson, printNumber, quote } from '../go/go-text.js'
import { isNumber, type Value } from '../values/value.js'

/** The kinds of fault. They are also the reasons of the causes in a Status. */
export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'

export interface FieldError {
  readonly type: FieldErrorType
  readonly field: string
  /** What stood there, for the types that show it; undefined leaves it out. */
  readonly value?: BadValue
  readonly detail: string
}

/** A text that stands for a value. A class, so that no user's object can be taken for one. */
export class Printed {
  constructor(readonly text: string) {}
}

export type BadValue = Value | Printed | undefined

/** A value that is a struct in Go: its members are printed in this order, not sorted. */
export const asStruct = (value: Value): Printed => new Printed(printJson(value, { keepOrder: true }))

// ---- paths

export const childPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)
export const indexPath = (path: string, index: number): string => `${path}[${index}]`
/** Keys of maps stand in brackets as they are, without quotes. */
export const keyPath = (path: string, key: string): string => `${path}[${key}]`

// ---- faults

export const fieldRequired = (field: string, detail = ''): FieldError => ({ type: 'FieldValueRequired', field, detail })

export const fieldInvalid = (field: string, value: BadValue, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  ...shown(value),
  detail,
})

export const fieldTypeInvalid = (field: string, value: BadValue, detail: string): FieldError => ({
  type: 'FieldValueTypeInvalid',
  field,
  ...shown(value),
  detail,
})

/** `supported` is shown in the order given. */
export const fieldNotSupported = (field: string, value: BadValue, supported: readonly string[]): FieldError => ({
  type: 'FieldValueNotSupported',
  field,
  ...shown(value),
  detail: supported.length === 0 ? '' : `supported values: ${supported.map(quote).join(', ')}`,
})

export const fieldDuplicate = (field: string, value: BadValue, detail = ''): FieldError => ({
  type: 'FieldValueDuplicate',
  field,
  ...shown(value),
  detail,
})

export const fieldNotFound = (field: string, value: BadValue): FieldError => ({
  type: 'FieldValueNotFound',
  field,
  ...shown(value),
  detail: '',
})

export const fieldForbidden = (field: string, detail: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  detail,
})

/** A negative limit is not told. */
export const fieldTooLong = (field: string, maxBytes: number): FieldError => ({
  type: 'FieldValueTooLong',
  field,
  detail: maxBytes < 0 ? 'value is too long' : `may not be more than ${count(maxBytes, 'byte')}`,
})

/** A negative limit or number is not told. */
export const fieldTooMany = (field: string, actual: number, max: number): FieldError => ({
  type: 'FieldValueTooMany',
  field,
  ...shown(actual < 0 ? undefined : actual),
  detail: max < 0 ? 'has too many items' : `must have at most ${count(max, 'item')}`,
})

/** A fault of ours, not of the user's. */
export const fieldInternal = (field: string, detail: string): FieldError => ({ type: 'InternalError', field, detail })

// ---- texts

/** The whole message: `spec.replicas: Invalid value: -1: must be greater than or equal to 0`. */
export const printFieldError = (error: FieldError): string => `${printField(error)}: ${printFieldErrorBody(error)}`

/** The message without the field. */
export function printFieldErrorBody({ type, value, detail }: FieldError): string {
  let body = TITLES[type]
  if (value !== undefined && SHOWS_VALUE.has(type)) body += `: ${printBadValue(value)}`
  return detail === '' ? body : `${body}: ${detail}`
}

/** The field as causes name it; the root has no name in Go, which prints `<nil>`. */
export const printField = ({ field }: FieldError): string => (field === '' ? '<nil>' : field)

/** Several errors as one text: one alone as it is, more in brackets; what would be said twice is said once. */
export function printFieldErrors(errors: readonly FieldError[]): string {
  const messages = [...new Set(errors.map(printFieldError))]
  return messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`
}

function printBadValue(value: Exclude<BadValue, undefined>): string {
  if (typeof value === 'string') return quote(value)
  if (value instanceof Printed) return value.text
  return isNumber(value) ? printNumber(value) : printJson(value)
}

const TITLES: Readonly<Record<FieldErrorType, string>> = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueTypeInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueNotFound: 'Not found',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  InternalError: 'Internal error',
}

const SHOWS_VALUE: ReadonlySet<FieldErrorType> = new Set([
  'FieldValueInvalid',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueDuplicate',
  'FieldValueNotFound',
  'FieldValueTooMany',
])

const shown = (value: BadValue): { value?: BadValue } => (value === undefined ? {} : { value })

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
