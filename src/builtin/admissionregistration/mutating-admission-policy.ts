// MutatingAdmissionPolicy: CEL expressions that change an object.
import { type FieldError, fieldInvalid, fieldRequired, indexPath } from '../../meta/errors/field-errors.js'
import { objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { AdmissionProgram } from '../admission-expressions.js'
import { defineKind, type KindDefinition } from '../common/define-kind.js'
import { checkOneOf } from '../common/field-checks.js'
import { check, field, oneOf, required } from '../common/rules.js'
import { specOnly } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'
import type { PolicyCompiler } from '../policy-expressions.js'
import { deprecatedMutation, mutatingOperations } from './matching.js'
import { checkProgram, compilerWithVariables, defaultPolicy, policyRow, policyRules } from './policy-spec.js'

interface PatchType {
  readonly member: string
  compile(compiler: PolicyCompiler, expression: string): AdmissionProgram
}

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  ApplyConfiguration: {
    member: 'applyConfiguration',
    compile: (compiler, expression) => compiler.applyConfiguration(expression),
  },
  JSONPatch: { member: 'jsonPatch', compile: (compiler, expression) => compiler.jsonPatch(expression) },
}

function checkMutation(mutation: ValueObject, path: string, compiler: PolicyCompiler): FieldError[] {
  const type = stringAt(mutation, 'patchType')
  if (!Object.hasOwn(PATCH_TYPES, type)) {
    return checkOneOf(type, Object.keys(PATCH_TYPES), `${path}.patchType`, { required: true })
  }
  // The patch of this type is checked first.
  const types = Object.entries(PATCH_TYPES).toSorted(([a], [b]) => Number(b === type) - Number(a === type))
  return types.flatMap(([other, { member, compile }]) => {
    const given = objectOrNone(mutation, member)
    const at = `${path}.${member}`
    if (other !== type)
      return given === undefined
        ? []
        : [fieldInvalid(at, `{${member}}`, `must not be specified when patchType is ${type}`)]
    if (given === undefined) return [fieldRequired(at, `must be specified when patchType is ${type}`)]
    const expression = stringAt(given, 'expression').trim()
    return expression === ''
      ? [fieldRequired(`${at}.expression`)]
      : checkProgram(compile(compiler, expression), expression, `${at}.expression`)
  })
}

const specRules = [
  mutatingOperations('matchConstraints'),
  required('mutations', 'mutations must contain at least one item'),
  check(spec => {
    const compiler = compilerWithVariables(spec, { always: true })
    return objectsAt(spec, 'mutations').flatMap((mutation, i) =>
      checkMutation(mutation, indexPath('spec.mutations', i), compiler),
    )
  }),
  oneOf('reinvocationPolicy', ['IfNeeded', 'Never'], { required: true }),
]

/** The versions differ in their warnings only. */
const mutatingPolicyIn = (version: string, deprecationWarning?: string): KindDefinition =>
  defineKind(`admissionregistration.k8s.io/${version}`, 'MutatingAdmissionPolicy', {
    defaults: defaultPolicy,
    strategy: { ...specOnly, allowUnconditionalUpdate: false, ...(deprecationWarning && { deprecationWarning }) },
    validation: validationRules(policyRules([field('spec', specRules)])),
    table: policyRow('mutations'),
  })

export const mutatingAdmissionPolicies = [
  mutatingPolicyIn('v1'),
  mutatingPolicyIn('v1beta1', deprecatedMutation('v1beta1', 'MutatingAdmissionPolicy')),
  mutatingPolicyIn('v1alpha1', deprecatedMutation('v1alpha1', 'MutatingAdmissionPolicy')),
]
