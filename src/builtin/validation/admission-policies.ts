// Policies that the server itself carries out, and their bindings to what they are about. What their expressions say is
// for those to check who evaluate them.
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import { checkDns1035Label, checkDnsSubdomain, checkQualifiedName } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkConditions } from '../common/conditions.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Check, type Validation } from '../common/validation.js'
import { checkMatchConditions, checkMatchResources } from './admission-matching.js'

const validationBy = (check: Check): Validation => ({
  create: check,
  update: (object, old) => [...checkMetaUpdate(object, old), ...check(object)],
})

// ---- what all policies have

function checkPolicySpec(spec: ValueObject): FieldError[] {
  return [
    ...(has(spec, 'failurePolicy')
      ? checkOneOf(stringAt(spec, 'failurePolicy'), ['Fail', 'Ignore'], 'spec.failurePolicy')
      : [fieldRequired('spec.failurePolicy')]),
    ...checkParamKind(spec),
    ...(has(spec, 'matchConstraints') ? checkConstraints(spec) : [fieldRequired('spec.matchConstraints')]),
    ...checkMatchConditions(spec, 'spec'),
    ...checkVariables(spec),
  ]
}

/** Without rules nobody would know what the expressions are about. */
const checkConstraints = (spec: ValueObject): FieldError[] => [
  ...checkMatchResources(spec, 'matchConstraints', 'spec'),
  ...(objectsAt(objectAt(spec, 'matchConstraints'), 'resourceRules').length === 0
    ? [fieldRequired('spec.matchConstraints.resourceRules')]
    : []),
]

function checkParamKind(spec: ValueObject): FieldError[] {
  const param = objectOrNone(spec, 'paramKind')
  if (param === undefined) return []
  const [version, kind] = [stringAt(param, 'apiVersion'), stringAt(param, 'kind')]
  const path = 'spec.paramKind'
  const parsed = parseGroupVersion(version)
  return [
    ...(version === ''
      ? [fieldRequired(`${path}.apiVersion`)]
      : parsed.ok
        ? []
        : [fieldInvalid(`${path}.apiVersion`, version, parsed.error)]),
    ...(kind === ''
      ? [fieldRequired(`${path}.kind`)]
      : checkText(
          kind,
          text =>
            checkDns1035Label(text.toLowerCase()).map(why => `may have mixed case, but should otherwise match: ${why}`),
          `${path}.kind`,
        )),
  ]
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/

function checkVariables(spec: ValueObject): FieldError[] {
  const names = new Set<string>()
  return objectsAt(spec, 'variables').flatMap((variable, i) => {
    const path = indexPath('spec.variables', i)
    const name = stringAt(variable, 'name')
    const errors =
      name === ''
        ? [fieldRequired(`${path}.name`, 'name is not specified')]
        : IDENTIFIER.test(name)
          ? []
          : [fieldInvalid(`${path}.name`, name, 'name is not a valid CEL identifier')]
    if (names.has(name)) errors.push(fieldDuplicate(`${path}.name`, name))
    names.add(name)
    if (stringAt(variable, 'expression').trim() === '') {
      errors.push(fieldRequired(`${path}.expression`, 'expression is not specified'))
    }
    return errors
  })
}

// ---- validating

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized']
const NOTHING_TO_DO = 'validations or auditAnnotations must contain at least one item'
const MAX_ANNOTATIONS = 20

export const validatingPolicyValidation: Validation = {
  ...validationBy(policy => {
    const spec = objectAt(policy, 'spec')
    const isIdle = ['validations', 'auditAnnotations'].every(field => objectsAt(spec, field).length === 0)
    return [
      ...checkMeta(policy, { namespaced: false }),
      ...checkPolicySpec(spec),
      ...(isIdle
        ? ['validations', 'auditAnnotations'].map(field => fieldRequired(`spec.${field}`, NOTHING_TO_DO))
        : []),
      ...objectsAt(spec, 'validations').flatMap((rule, i) => checkRule(rule, indexPath('spec.validations', i))),
      ...checkAnnotations(spec, stringAt(objectAt(policy, 'metadata'), 'name')),
    ]
  }),
  status: (policy, old) => [
    ...checkMetaUpdate(policy, old),
    ...checkConditions(objectsAt(objectAt(policy, 'status'), 'conditions'), 'status.conditions'),
  ],
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

/** Their keys come behind the name of the policy. */
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

// ---- mutating

const PATCH_TYPES: Readonly<Record<string, string>> = {
  ApplyConfiguration: 'applyConfiguration',
  JSONPatch: 'jsonPatch',
}

export const mutatingPolicyValidation = validationBy(policy => {
  const spec = objectAt(policy, 'spec')
  const mutations = objectsAt(spec, 'mutations')
  return [
    ...checkMeta(policy, { namespaced: false }),
    ...checkPolicySpec(spec),
    ...(mutations.length === 0 ? [fieldRequired('spec.mutations', 'mutations must contain at least one item')] : []),
    ...mutations.flatMap((mutation, i) => checkMutation(mutation, indexPath('spec.mutations', i))),
    ...checkOneOf(stringAt(spec, 'reinvocationPolicy'), ['IfNeeded', 'Never'], 'spec.reinvocationPolicy', {
      required: true,
    }),
  ]
})

function checkMutation(mutation: ValueObject, path: string): FieldError[] {
  const type = stringAt(mutation, 'patchType')
  if (!Object.hasOwn(PATCH_TYPES, type)) {
    return checkOneOf(type, Object.keys(PATCH_TYPES), `${path}.patchType`, { required: true })
  }
  return Object.entries(PATCH_TYPES).flatMap(([other, field]) => {
    const given = objectOrNone(mutation, field)
    const at = `${path}.${field}`
    if (other !== type)
      return given === undefined ? [] : [fieldForbidden(at, `must not be specified for patchType ${type}`)]
    if (given === undefined) return [fieldRequired(at, `must be specified for patchType ${type}`)]
    return stringAt(given, 'expression').trim() === ''
      ? [fieldRequired(`${at}.expression`, 'expression is not specified')]
      : []
  })
}

// ---- bindings

const ACTIONS = ['Audit', 'Deny', 'Warn']
const BOTH_DENY_AND_WARN =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'

const checkBinding = (binding: ValueObject): FieldError[] => {
  const spec = objectAt(binding, 'spec')
  const policy = stringAt(spec, 'policyName')
  return [
    ...checkMeta(binding, { namespaced: false }),
    ...(policy === '' ? [fieldRequired('spec.policyName')] : checkText(policy, checkDnsSubdomain, 'spec.policyName')),
    ...checkParamRef(spec),
    ...checkMatchResources(spec, 'matchResources', 'spec'),
  ]
}

export const mutatingBindingValidation = validationBy(checkBinding)
export const validatingBindingValidation = validationBy(binding => [
  ...checkBinding(binding),
  ...checkActions(stringsAt(objectAt(binding, 'spec'), 'validationActions')),
])

function checkParamRef(spec: ValueObject): FieldError[] {
  const ref = objectOrNone(spec, 'paramRef')
  if (ref === undefined) return []
  const path = 'spec.paramRef'
  const name = stringAt(ref, 'name')
  const selector = objectOrNone(ref, 'selector')
  const either =
    name !== '' && selector !== undefined
      ? ['name', 'selector'].map(field =>
          fieldForbidden(`${path}.${field}`, 'name and selector are mutually exclusive'),
        )
      : name === '' && selector === undefined
        ? [fieldRequired(path, 'one of name or selector must be specified')]
        : []
  return [
    ...either,
    ...(selector === undefined ? [] : checkLabelSelector(selector, `${path}.selector`)),
    ...(has(ref, 'parameterNotFoundAction')
      ? checkOneOf(stringAt(ref, 'parameterNotFoundAction'), ['Deny', 'Allow'], `${path}.parameterNotFoundAction`)
      : [fieldRequired(`${path}.parameterNotFoundAction`)]),
  ]
}

function checkActions(actions: readonly string[]): FieldError[] {
  const path = 'spec.validationActions'
  if (actions.length === 0) return [fieldRequired(path, 'at least one validation action is required')]
  return [
    ...actions.flatMap((action, i) => [
      ...checkOneOf(action, ACTIONS, indexPath(path, i)),
      ...(actions.indexOf(action) < i ? [fieldDuplicate(indexPath(path, i), action)] : []),
    ]),
    ...(actions.includes('Deny') && actions.includes('Warn')
      ? [fieldInvalid(path, [...actions], BOTH_DENY_AND_WARN)]
      : []),
  ]
}
