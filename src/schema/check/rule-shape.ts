// The parts of a rule of `x-kubernetes-validations`, apart from what its expressions mean.
import {
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { followFieldPath } from '../structure/field-path.js'
import type { Rule, Schema } from '../structure/structural.js'

export const checkRuleShapes = (schema: Schema, at: string): FieldError[] =>
  schema.extensions.rules.flatMap((rule, i) => checkRuleShape(rule, schema, indexPath(at, i)))

/** Whether a rule can be compiled at all. */
export const isRuleEmpty = ({ rule }: Rule): boolean => rule.trim() === ''

function checkRuleShape(rule: Rule, schema: Schema, at: string): FieldError[] {
  const { messageExpression, reason, fieldPath } = rule
  const errors: FieldError[] = checkText(rule, at)
  if (messageExpression !== '' && messageExpression.trim() === '') {
    const why = 'messageExpression must be non-empty if specified'
    errors.push(fieldRequired(childPath(at, 'messageExpression'), why))
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(fieldNotSupported(childPath(at, 'reason'), reason, REASONS))
  }
  const field = childPath(at, 'fieldPath')
  if (fieldPath !== '' && fieldPath.trim() === '') {
    errors.push(fieldInvalid(field, fieldPath, 'must be non-empty if specified'))
  }
  if (hasLineBreak(fieldPath)) errors.push(fieldInvalid(field, fieldPath, 'must not contain line breaks'))
  if (!followFieldPath(fieldPath, schema, { brackets: true }).ok) {
    errors.push(fieldInvalid(field, fieldPath, 'must be a valid path'))
  }
  return errors
}

/** Of the rule and its message only the first error is reported. */
function checkText(rule: Rule, at: string): FieldError[] {
  const message = rule.message.trim()
  const field = childPath(at, 'message')
  if (isRuleEmpty(rule)) return [fieldRequired(childPath(at, 'rule'), 'rule is not specified')]
  if (rule.message !== '' && message === '') {
    return [fieldInvalid(field, rule.message, 'must be non-empty if specified')]
  }
  if (hasLineBreak(message)) return [fieldInvalid(field, rule.message, 'must not contain line breaks')]
  if (hasLineBreak(rule.rule.trim()) && message === '') {
    return [fieldRequired(field, 'message must be specified if rule contains line breaks')]
  }
  return []
}

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text)

const REASONS: readonly string[] = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
]
