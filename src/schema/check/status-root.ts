// With a status subresource the status is validated by its own part of the schema, so that nothing at the root may
// speak of it: only some keywords are allowed there.
import { asStruct, childPath, type FieldError, fieldInvalid } from '../../meta/errors/field-errors.js'
import type { Value } from '../../meta/values/value.js'
import type { Schema } from '../structure/structural.js'
import { describeInGo, describeRootInGo, GO_FIELDS } from './go-printed.js'

export function checkStatusRoot(written: Value, { type }: Schema, at: string): FieldError[] {
  const root = describeRootInGo(written)
  for (const field of GO_FIELDS) {
    const value = root[field]
    if (value === null || value === undefined || value === '' || value === false) continue
    if (field === 'Type') {
      if (type === 'object') continue
      const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      return [fieldInvalid(childPath(at, 'type'), type, why)]
    }
    if (!ALLOWED.includes(field)) {
      const why = `only [${ALLOWED.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`
      return [fieldInvalid(at, asStruct(describeInGo(written)), why)]
    }
  }
  return []
}

const ALLOWED: readonly string[] = [
  'Description',
  'Type',
  'Format',
  'Title',
  'Maximum',
  'ExclusiveMaximum',
  'Minimum',
  'ExclusiveMinimum',
  'MaxLength',
  'MinLength',
  'Pattern',
  'MaxItems',
  'MinItems',
  'UniqueItems',
  'MultipleOf',
  'Required',
  'Items',
  'Properties',
  'ExternalDocs',
  'Example',
  'XPreserveUnknownFields',
  'XValidations',
]
