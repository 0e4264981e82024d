// Validation ratcheting: an update is not refused for what was wrong before and did not change. Each node of the schema
// forgives its own faults where its value is the same as before (see validate/validator.ts); what stands in list maps is
// followed by key. Never forgiven are faults of the root itself, whose metadata no schema describes; of embedded
// resources; and anything inside a branch of allOf, anyOf or oneOf unless the whole value is unchanged.
import type { FieldError } from '../../meta/errors/field-errors.js'
import type { Value } from '../../meta/values/value.js'
import type { Schema } from '../structure/structural.js'
import { correlate } from './correlate.js'
import { checkListTypes } from './list-types.js'
import { startRun, type Validator, withoutRepeats } from './run.js'

/** What is wrong with a value as a change of an old one. `old` is undefined where nothing was there. */
export function validateChange(
  validator: Validator,
  schema: Schema,
  value: Value,
  old: Value | undefined,
  at = '',
): readonly FieldError[] {
  const run = startRun(at, old === undefined ? undefined : correlate(value, old, schema))
  validator(value, run)
  return withoutRepeats(run.errors)
}

/** Lists forgive as one: once any list of the old object breaks its type, none of the new object is looked at. */
export function checkChangedListTypes(schema: Schema, value: Value, old: Value): readonly FieldError[] {
  const errors = checkListTypes(value, schema)
  return errors.length > 0 && checkListTypes(old, schema).length > 0 ? [] : errors
}
