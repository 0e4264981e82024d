// Fields that objects may be selected by: each must lead through the schema to a text, a truth value or an integer.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import type { Schema } from '../../schema/structural.js'
import { followFieldPath } from '../../schema/structural.js'

const MAX = 8
const TYPES = new Set(['string', 'boolean', 'integer'])

export function checkSelectableFields(
  fields: readonly { readonly jsonPath: string }[],
  schema: Schema,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, { jsonPath }] of fields.entries()) {
    const at = childPath(indexPath(path, i), 'jsonPath')
    if (jsonPath === '') {
      errors.push(fieldRequired(at))
      continue
    }
    const found = followFieldPath(jsonPath, schema, { brackets: false })
    if (!found.ok) {
      errors.push(fieldInvalid(at, jsonPath, `is an invalid path: ${found.error}`))
      continue
    }
    if (/^\.metadata(\.|$)/.test(jsonPath)) {
      errors.push(fieldInvalid(at, jsonPath, 'must not point to fields in metadata'))
    }
    if (!TYPES.has(found.value.schema.type)) {
      const why =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
      errors.push(fieldInvalid(at, jsonPath, why))
    }
    if (seen.has(jsonPath)) errors.push(fieldDuplicate(at, jsonPath))
    seen.add(jsonPath)
  }
  if (seen.size > MAX) errors.push(fieldTooMany(path, seen.size, MAX))
  return errors
}
