// Ingress classes: who carries ingresses out, and by which parameters.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain, checkPathSegment } from '../../meta/object/names.js'
import { has, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkImmutable, checkOneOf, checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

export const ingressClassValidation: Validation = {
  create: made => [...checkMeta(made, { namespaced: false }), ...checkSpec(objectAt(made, 'spec'))],
  update: (made, old) => [
    ...checkMetaUpdate(made, old),
    ...checkSpec(objectAt(made, 'spec')),
    ...checkImmutable(objectAt(made, 'spec'), objectAt(old, 'spec'), 'controller', 'spec.controller'),
  ],
}

const checkSpec = (spec: ValueObject): FieldError[] => [
  ...checkController(stringAt(spec, 'controller'), 'spec.controller'),
  ...checkParameters(objectOrNone(spec, 'parameters'), 'spec.parameters'),
]

const MAX_CONTROLLER = 250

function checkController(controller: string, path: string): FieldError[] {
  if (controller === '') return [fieldRequired(path)]
  const tooLong = controller.length > MAX_CONTROLLER ? [fieldTooLong(path, MAX_CONTROLLER)] : []
  return [...tooLong, ...checkPrefixedPath(controller, path)]
}

const PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

/** A domain, a slash, and a path that URLs can have. */
function checkPrefixedPath(text: string, path: string): FieldError[] {
  const told = (why: string): FieldError[] => [fieldInvalid(path, text, why)]
  const slash = text.indexOf('/')
  const [domain, rest] = [text.slice(0, slash), text.slice(slash + 1)]
  if (slash <= 0 || rest === '') return told('must be a domain-prefixed path (such as "acme.io/foo")')
  const errors = checkText(domain, checkDnsSubdomain, path)
  if (new RegExp(`^${PATH}$`).test(rest)) return errors
  return [...errors, fieldInvalid(path, rest, `Invalid path (regex used for validation is '${PATH}')`)]
}

const SCOPES = ['Cluster', 'Namespace']

function checkParameters(parameters: ValueObject | undefined, path: string): FieldError[] {
  if (parameters === undefined) return []
  const at = (field: string): string => childPath(path, field)
  return [
    ...(has(parameters, 'apiGroup')
      ? checkText(stringAt(parameters, 'apiGroup'), checkDnsSubdomain, at('apiGroup'))
      : []),
    ...['kind', 'name'].flatMap(field => {
      const text = stringAt(parameters, field)
      return text === '' ? [fieldRequired(at(field))] : checkText(text, checkPathSegment, at(field))
    }),
    ...checkScope(parameters, at),
  ]
}

function checkScope(parameters: ValueObject, at: (field: string) => string): FieldError[] {
  if (!has(parameters, 'scope')) return [fieldRequired(at('scope'))]
  const scope = stringAt(parameters, 'scope')
  const isNamed = has(parameters, 'namespace')
  if (scope === 'Cluster' && isNamed) {
    return [fieldForbidden(at('namespace'), "`parameters.scope` is set to 'Cluster'")]
  }
  if (scope !== 'Namespace') return checkOneOf(scope, SCOPES, at('scope'))
  return isNamed
    ? checkText(stringAt(parameters, 'namespace'), checkDnsLabel, at('namespace'))
    : [fieldRequired(at('namespace'), "`parameters.scope` is set to 'Namespace'")]
}
