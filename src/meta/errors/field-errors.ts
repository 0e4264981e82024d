// The error of one field of an object: its path, its type, the bad value and the reason.
// A path is a string, built step by step (`spec.containers[0].name`, `metadata.labels[a.b/c]`); the root is empty.
import { printJson, printNumber, quote } from '../go/go-text.js'
import { isNumber, type Value } from '../values/value.js'
import { countError, omittedText, printUpToLimit } from './error-limit.js'

/** The types of errors. They are also the reasons of the causes in a Status. */
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
  /** The bad value, for types whose message includes it; undefined omits it. */
  readonly value?: BadValue
  readonly detail: string
  /** The feature gate that must have its default value for this to be an error. */
  readonly gate?: string | undefined
}

/** A printed form that stands for a value. A class, so that an object of a user cannot be mistaken for it. */
export class Printed {
  private constructor(
    private readonly value: unknown,
    private readonly print: (value: never) => string,
  ) {}

  /** `print`: the same function for equal values, so that equal errors are equal. */
  static of<T>(value: T, print: (value: T) => string): Printed {
    return new Printed(value, print)
  }

  /** Printed only when it is shown: of very many errors only the first are. */
  get text(): string {
    return this.print(this.value as never)
  }
}

export type BadValue = Value | Printed | undefined

/** A value that is a struct in Go: its members are printed in their order, not sorted. */
export const asStruct = (value: Value): Printed => Printed.of(value, printStruct)
const printStruct = (value: Value): string => printJson(value, { keepOrder: true })

/** A text that has a type of its own in Go, or is behind a pointer: it is printed as JSON, not quoted as Go does. */
export const asTypedText = (text: string): Printed => Printed.of(text, printJson)

/** A plain string among values that mostly have types of their own: quoted as Go does. */
export const asString = (text: string): Printed => Printed.of(text, quote)

// ---- paths

export const childPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)
export const indexPath = (path: string, index: number): string => `${path}[${index}]`
/** Keys of maps are in brackets, without quotes. */
export const keyPath = (path: string, key: string): string => `${path}[${key}]`

// ---- errors

export const fieldRequired = (field: string, detail = ''): FieldError =>
  countError({ type: 'FieldValueRequired', field, detail })

export const fieldInvalid = (field: string, value: BadValue, detail: string): FieldError =>
  countError({
    type: 'FieldValueInvalid',
    field,
    ...valueOrNone(value),
    detail,
  })

export const fieldTypeInvalid = (field: string, value: BadValue, detail: string): FieldError =>
  countError({
    type: 'FieldValueTypeInvalid',
    field,
    ...valueOrNone(value),
    detail,
  })

/**
 * `supported` is printed in the given order. Most fields with supported values have a type of their own in Go, so that a
 * text is printed as JSON; see `asString`.
 */
export const fieldNotSupported = (field: string, value: BadValue, supported: readonly string[]): FieldError =>
  countError({
    type: 'FieldValueNotSupported',
    field,
    ...valueOrNone(value),
    detail: supported.length === 0 ? '' : `supported values: ${supported.map(quote).join(', ')}`,
  })

export const fieldDuplicate = (field: string, value: BadValue, detail = ''): FieldError =>
  countError({
    type: 'FieldValueDuplicate',
    field,
    ...valueOrNone(value),
    detail,
  })

export const fieldNotFound = (field: string, value: BadValue, detail = ''): FieldError =>
  countError({
    type: 'FieldValueNotFound',
    field,
    ...valueOrNone(value),
    detail,
  })

export const fieldForbidden = (field: string, detail: string): FieldError =>
  countError({
    type: 'FieldValueForbidden',
    field,
    detail,
  })

/** A negative limit is not printed. */
export const fieldTooLong = (field: string, maxBytes: number): FieldError =>
  countError({
    type: 'FieldValueTooLong',
    field,
    detail: maxBytes < 0 ? 'value is too long' : `may not be more than ${count(maxBytes, 'byte')}`,
  })

/** A negative limit or number is not printed. */
export const fieldTooMany = (field: string, actual: number, max: number): FieldError =>
  countError({
    type: 'FieldValueTooMany',
    field,
    ...valueOrNone(actual < 0 ? undefined : actual),
    detail: max < 0 ? 'has too many items' : `must have at most ${count(max, 'item')}`,
  })

/** An error of the server, not of the request. */
export const fieldInternal = (field: string, detail: string): FieldError => ({ type: 'InternalError', field, detail })

// ---- texts

/** The complete message: `spec.replicas: Invalid value: -1: must be greater than or equal to 0`. */
export const printFieldError = (error: FieldError): string => `${printField(error)}: ${printFieldErrorBody(error)}`

/** The message without the field. */
export function printFieldErrorBody({ type, value, detail }: FieldError): string {
  let body = TITLES[type]
  if (value !== undefined && SHOWS_VALUE.has(type)) body += `: ${printBadValue(value, type)}`
  return detail === '' ? body : `${body}: ${detail}`
}

/** The field of a cause; for the root Go prints `<nil>`. */
export const printField = ({ field }: FieldError): string => (field === '' ? '<nil>' : field)

/** Several errors as one text: a single one unchanged, several in brackets; duplicates are printed once. */
export function printFieldErrors(errors: readonly FieldError[]): string {
  const { printed, omitted } = printUpToLimit(errors, printFieldError, text => text.length)
  const messages = [...new Set(printed), ...(omitted > 0 ? [omittedText(omitted)] : [])]
  return messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`
}

function printBadValue(value: Exclude<BadValue, undefined>, type: FieldErrorType): string {
  if (typeof value === 'string') return type === 'FieldValueNotSupported' ? printJson(value) : quote(value)
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

const valueOrNone = (value: BadValue): { value?: BadValue } => (value === undefined ? {} : { value })

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
