// Which faults of an object keep its rules from being looked at, and what is then said instead.
import { type FieldError, type FieldErrorType, fieldInvalid } from '../../meta/errors/field-errors.js'

/** Rules count on types and sizes; beside a fault of those they are not evaluated, and the client is told so. */
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
