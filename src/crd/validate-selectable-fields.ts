// Fields that objects may be selected by: each must lead through the schema to a text, a truth value or an integer.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../meta/field-errors.js'
import { failed, type Parsed, parsed } from '../meta/parsed.js'
import type { Schema } from '../schema/structural.js'

const MOST = 8
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
    const found = followPath(jsonPath, schema)
    if (!found.ok) {
      errors.push(fieldInvalid(at, jsonPath, `is an invalid path: ${found.error}`))
      continue
    }
    if (/^\.metadata(\.|$)/.test(jsonPath)) {
      errors.push(fieldInvalid(at, jsonPath, 'must not point to fields in metadata'))
    }
    if (!TYPES.has(found.value.type)) {
      const why =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
      errors.push(fieldInvalid(at, jsonPath, why))
    }
    if (seen.has(jsonPath)) errors.push(fieldDuplicate(at, jsonPath))
    seen.add(jsonPath)
  }
  if (seen.size > MOST) errors.push(fieldTooMany(path, seen.size, MOST))
  return errors
}

/** The schema that a path in dots leads to. */
function followPath(path: string, root: Schema): Parsed<Schema> {
  const tokens = path.match(/[.[\]]|'(?:[^'\\]|\\.)*'|[^.[\]]+/g) ?? []
  let schema: Schema = root
  for (let i = 0; i < tokens.length; i += 2) {
    if (tokens[i] === '[') return failed('array notation is not allowed')
    if (tokens[i] !== '.') return failed(`expected [ or . but got: ${tokens[i]}`)
    const name = tokens[i + 1]
    if (name === undefined) return failed('unexpected end of JSON path')
    const { properties, additionalProperties } = schema
    const named = properties.get(name)
    if (named) schema = named
    else if (properties.size === 0 && typeof additionalProperties === 'object') schema = additionalProperties
    else return failed('does not refer to a valid field')
  }
  return parsed(schema)
}
