// ValidatingAdmissionPolicy: CEL expressions that an object must meet.
import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../meta/object/names.js'
import { has, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkConditions } from '../common/conditions.js'
import { defineKind } from '../common/define-kind.js'
import { checkOneOf } from '../common/field-checks.js'
import { metadataUpdate } from '../common/metadata.js'
import { check } from '../common/rules.js'
import { counted, statusAlone } from '../common/strategies.js'
import { nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { defaultPolicy, policyRow, policyRules } from './policy-spec.js'

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized']
const NO_EXPRESSIONS = 'validations or auditAnnotations must contain at least one item'
const MAX_ANNOTATIONS = 20

function checkExpressions(policy: ValueObject): FieldError[] {
  const spec = objectAt(policy, 'spec')
  const lists = ['validations', 'auditAnnotations']
  const isEmpty = lists.every(list => objectsAt(spec, list).length === 0)
  return [
    ...(isEmpty ? lists.map(list => fieldRequired(`spec.${list}`, NO_EXPRESSIONS)) : []),
    ...objectsAt(spec, 'validations').flatMap((rule, i) => checkRule(rule, indexPath('spec.validations', i))),
    ...checkAnnotations(spec, nameOf(policy)),
  ]
}

function checkRule(rule: ValueObject, path: string): FieldError[] {
  const expression = stringAt(rule, 'expression').trim()
  const message = stringAt(rule, 'message')
  const messageExpression = stringAt(rule, 'messageExpression')
  const needsMessage = expression.includes('\n') && message.trim() === '' && messageExpression === ''
  return [
    ...(expression === '' ? [fieldRequired(`${path}.expression`, 'expression is not specified')] : []),
    ...(messageExpression !== '' && messageExpression.trim() === ''
      ? [fieldInvalid(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified')]
      : []),
    ...(message !== '' && message.trim() === ''
      ? [fieldInvalid(`${path}.message`, message, 'message must be non-empty if specified')]
      : []),
    ...(message.trim().includes('\n')
      ? [fieldInvalid(`${path}.message`, message, 'message must not contain line breaks')]
      : []),
    ...(needsMessage
      ? [fieldRequired(`${path}.message`, 'message must be specified if expression contains line breaks')]
      : []),
    ...(has(rule, 'reason') ? checkOneOf(stringAt(rule, 'reason'), REASONS, `${path}.reason`) : []),
  ]
}

/** The key of an annotation is prefixed with the name of the policy. */
function checkAnnotations(spec: ValueObject, name: string): FieldError[] {
  const annotations = objectsAt(spec, 'auditAnnotations')
  const path = 'spec.auditAnnotations'
  const keys = new Set<string>()
  return [
    ...(annotations.length > MAX_ANNOTATIONS ? [fieldTooMany(path, annotations.length, MAX_ANNOTATIONS)] : []),
    ...annotations.flatMap((annotation, i) => {
      const key = stringAt(annotation, 'key')
      const at = `${indexPath(path, i)}.key`
      const errors =
        key === '' ? [fieldRequired(at)] : checkQualifiedName(`${name}/${key}`).map(why => fieldInvalid(at, key, why))
      if (key !== '' && keys.has(key)) errors.push(fieldDuplicate(at, key))
      keys.add(key)
      if (stringAt(annotation, 'valueExpression').trim() === '') {
        errors.push(fieldRequired(`${indexPath(path, i)}.valueExpression`, 'valueExpression is not specified'))
      }
      return errors
    }),
  ]
}

export const validatingAdmissionPolicy = defineKind('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', {
  defaults: defaultPolicy,
  strategy: counted('admissionregistration/v1.ValidatingAdmissionPolicyStatus', {
    prepareForStatusUpdate: statusAlone,
    allowUnconditionalUpdate: false,
  }),
  statusReset: ['metadata'],
  validation: validationRules({
    ...policyRules([check(checkExpressions)]),
    status: [
      metadataUpdate,
      check(policy => checkConditions(objectsAt(objectAt(policy, 'status'), 'conditions'), 'status.conditions')),
    ],
  }),
  table: policyRow('validations'),
})
