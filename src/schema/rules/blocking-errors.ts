// Which errors of an object keep its rules from being evaluated, and the error that is reported instead.
import { type FieldError, type FieldErrorType, fieldInvalid } from '../../meta/errors/field-errors.js'

/** Rules rely on types and sizes. Beside an error of those they are not evaluated, which is an error too. */
export const blocksRules = (errors: readonly FieldError[]): boolean => errors.some(({ type }) => BLOCKING.has(type))

export const rulesNotChecked = (): FieldError =>
  fieldInvalid(
    '',
    null,
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  )

const BLOCKING: ReadonlySet<FieldErrorType> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])
