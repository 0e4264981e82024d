// What the bindings of validating and mutating policies have in common.
import { type FieldError, fieldForbidden, fieldRequired } from '../../meta/errors/field-errors.js'
import { printStrings } from '../../meta/go/go-text.js'
import { checkDnsSubdomain, checkPathSegment } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import { mapAt, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { KindParts } from '../common/define-kind.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { metadata } from '../common/metadata.js'
import { check, field, format, type Rule } from '../common/rules.js'
import { specOnly } from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { checkMatchResources, defaultMatching } from './matching.js'

/** The parts of a kind of bindings whose spec has these rules beside the common ones. */
export function policyBinding(own: readonly Rule[], deprecationWarning?: string): KindParts {
  const rules = [metadata({ namespaced: false, knownFinalizers: false }), field('spec', [...specRules, ...own])]
  return {
    defaults: binding => {
      const resources = objectOrNone(objectAt(binding, 'spec'), 'matchResources')
      if (resources !== undefined) defaultMatching(resources)
    },
    strategy: { ...specOnly, allowUnconditionalUpdate: false, ...(deprecationWarning && { deprecationWarning }) },
    validation: validationRules({ create: rules, update: rules }),
    table: row,
  }
}

const specRules: readonly Rule[] = [
  format('policyName', checkDnsSubdomain, { required: true }),
  check(checkParamRef),
  check(spec => checkMatchResources(spec, 'matchResources', 'spec')),
]

const REQUIRED = { required: true }

function checkParamRef(spec: ValueObject): FieldError[] {
  const ref = objectOrNone(spec, 'paramRef')
  if (ref === undefined) return []
  const path = 'spec.paramRef'
  const name = stringAt(ref, 'name')
  const selector = objectOrNone(ref, 'selector')
  const either =
    name !== '' && selector !== undefined
      ? ['name', 'selector'].map(member =>
          fieldForbidden(`${path}.${member}`, 'name and selector are mutually exclusive'),
        )
      : name === '' && selector === undefined
        ? [fieldRequired(path, 'one of name or selector must be specified')]
        : []
  return [
    ...(name === '' ? [] : checkText(name, text => checkPathSegment(text), `${path}.name`)),
    ...either,
    ...(selector === undefined ? [] : checkLabelSelector(selector, `${path}.selector`)),
    ...checkOneOf(
      stringAt(ref, 'parameterNotFoundAction'),
      ['Deny', 'Allow'],
      `${path}.parameterNotFoundAction`,
      REQUIRED,
    ),
  ]
}

// ---- Table

const row: TableRow = (binding, now) => {
  const spec = objectAt(binding, 'spec')
  return [nameOf(binding), stringAt(spec, 'policyName'), printParams(objectAt(spec, 'paramRef')), ageOf(binding, now)]
}

function printParams(ref: ValueObject): string {
  const [namespace, name] = [stringAt(ref, 'namespace'), stringAt(ref, 'name')]
  if (name !== '') return namespace === '' ? name : `${namespace}/${name}`
  const selector = objectOrNone(ref, 'selector')
  return selector === undefined ? '<unset>' : printGoSelector(selector)
}

/** As Go prints a LabelSelector. */
function printGoSelector(selector: ValueObject): string {
  const labels = mapAt(selector, 'matchLabels')
  const keys = Object.keys(labels).toSorted()
  const expressions = objectsAt(selector, 'matchExpressions').map(each => {
    const values = stringsAt(each, 'values')
    const shown = values.length === 0 ? '[]' : printStrings(values)
    return `LabelSelectorRequirement{Key:${stringAt(each, 'key')},Operator:${stringAt(each, 'operator')},Values:${shown},}`
  })
  return `&LabelSelector{MatchLabels:map[string]string{${keys
    .map(key => `${key}: ${labels[key]!},`)
    .join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.map(each => `${each},`).join('')}},}`
}
