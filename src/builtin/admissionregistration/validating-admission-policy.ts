// ValidatingAdmissionPolicy: CEL expressions that an object must meet.
import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../meta/object/names.js'
import { has, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkConditions } from '../common/conditions.js'
import { defineKind, type KindDefinition } from '../common/define-kind.js'
import { earlierVersion } from '../common/earlier-version.js'
import { checkText } from '../common/field-checks.js'
import { check, each, optional, required, run } from '../common/rules.js'
import { counted, statusAlone } from '../common/strategies.js'
import { nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import type { PolicyCompiler } from '../policy-expressions.js'
import { checkProgram, compilerWithVariables, defaultPolicy, policyRow, policyRules } from './policy-spec.js'

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const NO_EXPRESSIONS = 'validations or auditAnnotations must contain at least one item'
const MAX_ANNOTATIONS = 20
const MAX_VALUE_EXPRESSION = 5 * 1024

function checkExpressions(policy: ValueObject): FieldError[] {
  const spec = objectAt(policy, 'spec')
  const lists = ['validations', 'auditAnnotations']
  const compiler = compilerWithVariables(spec)
  const isEmpty = lists.every(list => objectsAt(spec, list).length === 0)
  return [
    ...(isEmpty ? lists.map(list => fieldRequired(`spec.${list}`, NO_EXPRESSIONS)) : []),
    ...objectsAt(spec, 'validations').flatMap((rule, i) => checkRule(rule, indexPath('spec.validations', i), compiler)),
    ...checkAnnotations(spec, nameOf(policy), compiler),
  ]
}

function checkRule(rule: ValueObject, path: string, compiler: PolicyCompiler): FieldError[] {
  const expression = stringAt(rule, 'expression')
  const message = stringAt(rule, 'message')
  const messageExpression = stringAt(rule, 'messageExpression')
  return [
    ...(expression.trim() === ''
      ? [fieldRequired(`${path}.expression`, 'expression is not specified')]
      : checkProgram(compiler.validation(expression), expression, `${path}.expression`)),
    ...(messageExpression === '' ? [] : checkMessage(messageExpression, `${path}.messageExpression`, compiler)),
    ...(message !== '' && message.trim() === ''
      ? [fieldInvalid(`${path}.message`, message, 'must be non-empty if specified')]
      : []),
    ...(/[\r\n]/.test(message.trim())
      ? [fieldInvalid(`${path}.message`, message, 'must not contain line breaks')]
      : []),
    ...(has(rule, 'reason') && !REASONS.includes(stringAt(rule, 'reason'))
      ? [fieldNotSupported(`${path}.reason`, stringAt(rule, 'reason'), REASONS)]
      : []),
  ]
}

const checkMessage = (expression: string, path: string, compiler: PolicyCompiler): FieldError[] =>
  expression.trim() === ''
    ? [fieldInvalid(path, expression, 'must be non-empty if specified')]
    : checkProgram(compiler.message(expression), expression, path)

/** The key of an annotation is prefixed with the name of the policy. */
function checkAnnotations(spec: ValueObject, name: string, compiler: PolicyCompiler): FieldError[] {
  const annotations = objectsAt(spec, 'auditAnnotations')
  const path = 'spec.auditAnnotations'
  const keys = new Set<string>()
  return [
    ...(annotations.length > MAX_ANNOTATIONS ? [fieldTooMany(path, annotations.length, MAX_ANNOTATIONS)] : []),
    ...annotations.flatMap((annotation, i) => {
      const key = stringAt(annotation, 'key')
      const at = `${indexPath(path, i)}.key`
      const errors =
        name === ''
          ? [fieldInvalid(at, key, 'requires metadata.name be non-empty')]
          : checkText(`${name}/${key}`, checkQualifiedName, at)
      if (keys.has(key)) errors.push(fieldDuplicate(at, key))
      keys.add(key)
      const valuePath = `${indexPath(path, i)}.valueExpression`
      errors.push(...checkValueExpression(stringAt(annotation, 'valueExpression'), valuePath, compiler))
      return errors
    }),
  ]
}

function checkValueExpression(expression: string, path: string, compiler: PolicyCompiler): FieldError[] {
  const trimmed = expression.trim()
  if (trimmed === '') return [fieldRequired(path, 'valueExpression is not specified')]
  if (Buffer.byteLength(trimmed) > MAX_VALUE_EXPRESSION) {
    return [fieldRequired(path, `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`)]
  }
  return checkProgram(compiler.annotation(trimmed), expression, path)
}

const checkTypeChecking = (status: ValueObject): FieldError[] =>
  run(
    [optional('typeChecking', [each('expressionWarnings', [required('warning'), required('fieldRef')])])],
    status,
    undefined,
    'status',
  )

const policyInV1 = defineKind('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', {
  defaults: defaultPolicy,
  strategy: counted('admissionregistration/v1.ValidatingAdmissionPolicyStatus', {
    prepareForStatusUpdate: statusAlone,
    allowUnconditionalUpdate: false,
    appliedStatusCreates: true,
  }),
  statusReset: ['metadata'],
  validation: validationRules({
    ...policyRules([check(checkExpressions)]),
    status: [
      check(policy => checkTypeChecking(objectAt(policy, 'status'))),
      check(policy => checkConditions(objectsAt(objectAt(policy, 'status'), 'conditions'), 'status.conditions')),
    ],
  }),
  table: policyRow('validations'),
})

/** v1beta1 is served while a release before v1.34 is emulated. */
export const validatingAdmissionPolicies: readonly KindDefinition[] = [
  policyInV1,
  earlierVersion(policyInV1, 'v1beta1', { since: 31, use: 'v1' }),
]
