// IngressClass: which controller carries out ingresses of the class, and with which parameters.
import { childPath, fieldForbidden, fieldRequired } from '../../meta/errors/field-errors.js'
import { checkDomainPath } from '../../meta/object/domain-path.js'
import { checkDnsLabel } from '../../meta/object/names.js'
import { has, mapAt, objectAt, objectOrNone, setDefault, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, field, immutable, maxBytes, optional, type Rule } from '../common/rules.js'
import { specOnly } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { kindAndName } from './object-reference.js'

function defaults(ingressClass: ValueObject): void {
  const parameters = objectOrNone(objectAt(ingressClass, 'spec'), 'parameters')
  if (parameters !== undefined) setDefault(parameters, 'scope', 'Cluster', false)
}

// ---- validation

const MAX_CONTROLLER = 250
const SCOPES = ['Cluster', 'Namespace']

const scope = check((parameters, path) => {
  const at = (name: string): string => childPath(path, name)
  if (!has(parameters, 'scope')) return [fieldRequired(at('scope'))]
  const given = stringAt(parameters, 'scope')
  const hasNamespace = has(parameters, 'namespace')
  if (given === 'Cluster' && hasNamespace) {
    return [fieldForbidden(at('namespace'), "`parameters.scope` is set to 'Cluster'")]
  }
  if (given !== 'Namespace') return checkOneOf(given, SCOPES, at('scope'), { isString: true })
  return hasNamespace
    ? checkText(stringAt(parameters, 'namespace'), checkDnsLabel, at('namespace'))
    : [fieldRequired(at('namespace'), "`parameters.scope` is set to 'Namespace'")]
})

const specRules: readonly Rule[] = [
  maxBytes('controller', MAX_CONTROLLER),
  check((spec, path) => checkDomainPath(stringAt(spec, 'controller'), childPath(path, 'controller'))),
  optional('parameters', [...kindAndName, scope]),
]

// ---- Table

const DEFAULT_CLASS = 'ingressclass.kubernetes.io/is-default-class'

function parametersCell(spec: ValueObject): string {
  const parameters = objectOrNone(spec, 'parameters')
  if (parameters === undefined) return NONE
  const group = has(parameters, 'apiGroup') ? `.${stringAt(parameters, 'apiGroup')}` : ''
  return `${stringAt(parameters, 'kind')}${group}/${stringAt(parameters, 'name')}`
}

const row: TableRow = (ingressClass, now) => {
  const spec = objectAt(ingressClass, 'spec')
  const isDefault = mapAt(objectAt(ingressClass, 'metadata'), 'annotations')[DEFAULT_CLASS] === 'true'
  return [
    nameOf(ingressClass) + (isDefault ? ' (default)' : ''),
    stringAt(spec, 'controller'),
    parametersCell(spec),
    ageOf(ingressClass, now),
  ]
}

export const ingressClass = defineKind('networking.k8s.io/v1', 'IngressClass', {
  defaults,
  strategy: specOnly,
  validation: validationRules({
    create: [metadata({ namespaced: false }), field('spec', specRules)],
    update: [
      metadataUpdate,
      field('spec', [immutable('controller', { of: 'networking/v1.IngressClassSpec' })]),
      metadata({ namespaced: false }),
      field('spec', specRules),
    ],
  }),
  table: row,
})
