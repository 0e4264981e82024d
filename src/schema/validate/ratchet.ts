// Validation ratcheting: an update is not refused for errors of values that did not change. Each node of the schema
// tolerates its own errors if its value is the same as before (see validate/validator.ts); items of list maps are
// correlated by key. Never tolerated are errors of the root itself, whose metadata no schema describes; of embedded
// resources; and inside a branch of allOf, anyOf or oneOf unless the whole value is unchanged.
import type { FieldError } from '../../meta/errors/field-errors.js'
import type { Value } from '../../meta/values/value.js'
import type { Schema } from '../structure/structural.js'
import { correlate } from './correlate.js'
import { checkListTypes } from './list-types.js'
import { errorsOf, startRun, type Validator } from './run.js'

/** The errors of a value as a change of an old one. `old` is undefined if there was none. */
export function validateChange(
  validator: Validator,
  schema: Schema,
  value: Value,
  old: Value | undefined,
  at = '',
): readonly FieldError[] {
  const run = startRun(at, old === undefined ? undefined : correlate(value, old, schema))
  return errorsOf(run, validator, value)
}

/**
 * Lists are ratcheted together: once any list of the old object violates its type, no list of the new one is checked.
 */
export function checkChangedListTypes(schema: Schema, value: Value, old: Value): readonly FieldError[] {
  const errors = checkListTypes(value, schema)
  return errors.length > 0 && checkListTypes(old, schema).length > 0 ? [] : errors
}
