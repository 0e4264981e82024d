// What validating and mutating admission policies have in common.
import {
  type FieldError,
  fieldInternal,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import { checkDns1035Label, checkDnsSubdomain, type NameRule } from '../../meta/object/names.js'
import { ensureObject, has, objectAt, objectOrNone, objectsAt, setDefault, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { isReserved } from '../../types/cel-types.js'
import type { AdmissionProgram } from '../admission-expressions.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { metadata } from '../common/metadata.js'
import { check, type Rule } from '../common/rules.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { type ValidationRules } from '../common/validation.js'
import { createPolicyCompiler, type PolicyCompiler } from '../policy-expressions.js'
import { checkMatchConditions, checkMatchResources, defaultMatching } from './matching.js'

export function defaultPolicy(policy: ValueObject): void {
  const spec = ensureObject(policy, 'spec')
  setDefault(spec, 'failurePolicy', 'Fail', false)
  const constraints = objectOrNone(spec, 'matchConstraints')
  if (constraints !== undefined) defaultMatching(constraints)
}

/** The rules of a policy with these rules of its own. */
export function policyRules(own: readonly Rule[]): ValidationRules {
  const rules = [
    metadata({ namespaced: false, knownFinalizers: false }),
    check(policy => checkPolicySpec(objectAt(policy, 'spec'))),
    ...own,
  ]
  return { create: rules, update: rules }
}

/** `field`: the list whose items are counted in a column. */
export const policyRow =
  (field: string): TableRow =>
  (policy, now) => {
    const spec = objectAt(policy, 'spec')
    const kind = objectOrNone(spec, 'paramKind')
    return [
      nameOf(policy),
      objectsAt(spec, field).length,
      kind === undefined ? '<unset>' : `${stringAt(kind, 'apiVersion')}/${stringAt(kind, 'kind')}`,
      ageOf(policy, now),
    ]
  }

function checkPolicySpec(spec: ValueObject): FieldError[] {
  return [
    ...(has(spec, 'failurePolicy')
      ? checkOneOf(stringAt(spec, 'failurePolicy'), ['Fail', 'Ignore'], 'spec.failurePolicy')
      : [fieldRequired('spec.failurePolicy')]),
    ...checkParamKind(spec),
    ...(has(spec, 'matchConstraints') ? checkConstraints(spec) : [fieldRequired('spec.matchConstraints')]),
    ...checkMatchConditions(spec, 'spec', { authorizer: true, params: has(spec, 'paramKind') }),
    ...checkVariables(spec),
  ]
}

/** A policy must say which resources it applies to. */
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
  return [
    ...(version === '' ? [fieldRequired(`${path}.apiVersion`)] : checkParamVersion(version, `${path}.apiVersion`)),
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

/** The version of the kind of parameters, as the name of an APIService has it. */
function checkParamVersion(text: string, path: string): FieldError[] {
  const parsed = parseGroupVersion(text)
  if (!parsed.ok) return [fieldInvalid(path, text, parsed.error)]
  const { group, version } = parsed.value
  return [
    ...(group === '' ? [] : checkJoined(group, checkDnsSubdomain, path)),
    ...(version === ''
      ? [fieldInvalid(path, text, 'version must be specified')]
      : checkJoined(version, checkDns1035Label, path)),
  ]
}

const checkJoined = (text: string, rule: NameRule, path: string): FieldError[] => {
  const errors = rule(text)
  return errors.length === 0 ? [] : [fieldInvalid(path, text, errors.join(','))]
}

const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !isReserved(name)

function checkVariables(spec: ValueObject): FieldError[] {
  const compiler = compilerOf(spec)
  return objectsAt(spec, 'variables').flatMap((variable, i) => {
    const path = indexPath('spec.variables', i)
    const name = stringAt(variable, 'name')
    const expression = stringAt(variable, 'expression')
    const errors =
      name.trim() === ''
        ? [fieldRequired(`${path}.name`, 'name is not specified')]
        : isIdentifier(name)
          ? []
          : [fieldInvalid(`${path}.name`, name, 'must be a valid CEL identifier')]
    return errors.concat(
      expression.trim() === ''
        ? fieldRequired(`${path}.expression`, 'expression is not specified')
        : checkProgram(compiler.variable(name, expression), expression, `${path}.expression`),
    )
  })
}

const compilerOf = (spec: ValueObject, always = false): PolicyCompiler =>
  createPolicyCompiler({ params: has(spec, 'paramKind'), variables: always || objectsAt(spec, 'variables').length > 0 })

/**
 * The compiler for the other expressions of a policy, which may use all its variables. With `always`, expressions of a
 * policy without variables know `variables` too, as an object without fields.
 */
export function compilerWithVariables(spec: ValueObject, { always = false } = {}): PolicyCompiler {
  const compiler = compilerOf(spec, always)
  for (const variable of objectsAt(spec, 'variables')) {
    const expression = stringAt(variable, 'expression')
    // A variable without an expression is reported, and others cannot refer to it.
    if (expression.trim() !== '') compiler.variable(stringAt(variable, 'name'), expression)
  }
  return compiler
}

/** The error of an expression that does not compile. */
export function checkProgram(compiled: AdmissionProgram, expression: string, path: string): FieldError[] {
  if (compiled.ok) return []
  return [compiled.internal ? fieldInternal(path, compiled.error) : fieldInvalid(path, expression, compiled.error)]
}
