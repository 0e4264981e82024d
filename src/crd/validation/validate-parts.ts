// The parts of a definition that are given for each version or for all: schema, subresources, columns and selectable
// fields.
import { childPath, type FieldError, fieldInvalid, fieldRequired, indexPath } from '../../meta/errors/field-errors.js'
import { checkSchema } from '../../schema/check-schema.js'
import type { RuleCompiler } from '../../schema/rules.js'
import { parseUnlessTooDeep } from '../../schema/structural.js'
import type { Leniency } from '../definition/ratcheting.js'
import type { Parts } from '../definition/shared-parts.js'
import type { ColumnSpec, ScaleSpec } from '../definition.js'
import { checkSelectableFields } from './validate-selectable-fields.js'

export interface PartPaths {
  /** The field of the parts: `spec`, `spec.versions[1]`. */
  readonly path: string
  /** The name of the schema's field there: `validation`, `schema`. */
  readonly schemaField: string
  /** Whether the objects have a status subresource. */
  readonly hasStatus: boolean
  /** Whether the version had the same schema before. */
  readonly hasOldSchema: boolean
}

/** Adds the warnings of the schema to `warnings`. */
export function checkParts(
  parts: Parts,
  { path, schemaField, hasStatus, hasOldSchema }: PartPaths,
  { mayBeUnstructured, noDefaults }: Leniency,
  ruleCompiler: RuleCompiler,
  warnings: Set<string>,
): FieldError[] {
  const schema = parts.schema?.openAPIV3Schema
  const schemaPath = `${childPath(path, schemaField)}.openAPIV3Schema`
  const checked = schema
    ? checkSchema(schema, schemaPath, {
        hasStatus,
        isUnchanged: hasOldSchema,
        mayBeUnstructured,
        noDefaults,
        ruleCompiler,
      })
    : { errors: [], warnings: [] }
  for (const warning of checked.warnings) warnings.add(warning)
  const scale = parts.subresources?.scale
  const columns = parts.additionalPrinterColumns ?? []
  return [
    ...checked.errors,
    ...(scale ? checkScale(scale, childPath(path, 'subresources.scale')) : []),
    ...columns.flatMap((column, i) => checkColumn(column, indexPath(`${path}.additionalPrinterColumns`, i))),
    ...checkSelectable(parts, path),
  ]
}

/** Selectable fields need a schema at the same level that describes them. */
function checkSelectable({ schema, selectableFields = [] }: Parts, path: string): FieldError[] {
  if (selectableFields.length === 0) return []
  const at = childPath(path, 'selectableFields')
  const written = schema?.openAPIV3Schema
  if (!written) {
    const isOfAll = path === 'spec'
    const what = isOfAll ? 'validations.schema is included' : '`version.schema.openAPIV3Schema` is not included'
    return [fieldInvalid(at, '', `may only be set when ${what}`)]
  }
  const parsed = parseUnlessTooDeep(written)
  return parsed ? checkSelectableFields(selectableFields, parsed, at) : []
}

// ---- columns

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

function checkColumn({ name, type, format = '', jsonPath }: ColumnSpec, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (name === '') errors.push(fieldRequired(childPath(path, 'name')))
  if (type === '') errors.push(fieldRequired(childPath(path, 'type'), oneOf(COLUMN_TYPES)))
  else if (!COLUMN_TYPES.includes(type)) errors.push(fieldInvalid(childPath(path, 'type'), type, oneOf(COLUMN_TYPES)))
  if (format !== '' && !COLUMN_FORMATS.includes(format)) {
    errors.push(fieldInvalid(childPath(path, 'format'), format, oneOf(COLUMN_FORMATS)))
  }
  const at = childPath(path, 'JSONPath')
  return [...errors, ...(jsonPath === '' ? [fieldRequired(at)] : checkSimplePath(jsonPath, at))]
}

const oneOf = (values: readonly string[]): string => `must be one of ${values.join(',')}`

// ---- scale

function checkScale({ specReplicasPath, statusReplicasPath, labelSelectorPath = '' }: ScaleSpec, path: string) {
  const under = (text: string, field: string, roots: readonly string[], where: string): FieldError[] => {
    const at = childPath(path, field)
    const errors = checkSimplePath(text, at)
    if (errors.length > 0 || roots.some(root => text.startsWith(`${root}.`))) return errors
    return [fieldInvalid(at, text, `should be a json path under ${where}`)]
  }
  const required = (text: string, field: string, root: string): FieldError[] =>
    text === '' ? [fieldRequired(childPath(path, field))] : under(text, field, [root], root)
  return [
    ...required(specReplicasPath, 'specReplicasPath', '.spec'),
    ...required(statusReplicasPath, 'statusReplicasPath', '.status'),
    ...(labelSelectorPath === ''
      ? []
      : under(labelSelectorPath, 'labelSelectorPath', ['.spec', '.status'], 'either .spec or .status')),
  ]
}

const checkSimplePath = (text: string, path: string): FieldError[] =>
  text.startsWith('.') ? [] : [fieldInvalid(path, text, 'must be a simple json path starting with .')]
