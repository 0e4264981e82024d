// Rules that flow schemas and priority levels have in common.
import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { asGoStruct } from '../common/go-struct.js'
import { metadata } from '../common/metadata.js'
import { check, field, type Rule } from '../common/rules.js'
import { nameOf } from '../common/table-cells.js'
import { type Validation, validationRules } from '../common/validation.js'

/** The validation of a kind with these rules for its spec. */
export function flowControlValidation(spec: readonly Rule[]): Validation {
  const conditions = field('status', [check(checkConditionTypes)])
  const rules = [metadata({ namespaced: false }), ...spec, conditions]
  return validationRules({ create: rules, update: rules, status: [conditions] })
}

function checkConditionTypes(status: ValueObject): FieldError[] {
  const seen = new Set<string>()
  return objectsAt(status, 'conditions').flatMap((condition, i) => {
    const path = `${indexPath('status.conditions', i)}.type`
    const type = stringAt(condition, 'type')
    const errors = seen.has(type) ? [fieldDuplicate(path, type)] : []
    seen.add(type)
    if (type === '') errors.push(fieldRequired(path))
    return errors
  })
}

/** Objects with these names have the same spec in every cluster. */
export const fixedSpec = (
  fixed: Readonly<Record<string, ValueObject>>,
  typeName: string,
  compared: (spec: ValueObject, name: string) => ValueObject = spec => spec,
): Rule =>
  check(object => {
    const name = nameOf(object)
    const spec = compared(objectAt(object, 'spec'), name)
    if (!Object.hasOwn(fixed, name) || equalValues(spec, fixed[name])) return []
    return [fieldInvalid('spec', asGoStruct(typeName, spec), `spec of '${name}' must equal the fixed value`)]
  })
