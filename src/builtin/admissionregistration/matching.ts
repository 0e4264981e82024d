// Which requests a webhook or a policy applies to: rules of operations and resources, selectors, and conditions.

import {
  asTypedText,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInternal,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkPathSegment, checkQualifiedName } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import {
  ensureObject,
  has,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type AdmissionVariables, compileMatchCondition } from '../admission-expressions.js'
import { deprecationWarning } from '../common/earlier-version.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { check, type Rule } from '../common/rules.js'

/** Without selectors every object of every namespace matches, and a request in any version of the resource. */
export function defaultMatching(matching: ValueObject): void {
  setDefault(matching, 'matchPolicy', 'Equivalent', false)
  ensureObject(matching, 'namespaceSelector')
  ensureObject(matching, 'objectSelector')
  for (const rules of ['rules', 'resourceRules', 'excludeResourceRules']) {
    for (const rule of objectsAt(matching, rules)) setDefault(rule, 'scope', '*', false)
  }
}

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']

export const checkRules = (object: ValueObject, field: string, path: string): FieldError[] =>
  objectsAt(object, field).flatMap((rule, i) => checkRule(rule, indexPath(childPath(path, field), i)))

function checkRule(rule: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const operations = stringsAt(rule, 'operations')
  return [
    ...checkSome(operations, at('operations'), 'operations', { emptyIsOne: true }),
    ...operations.flatMap((operation, i) =>
      OPERATIONS.includes(operation)
        ? []
        : [fieldNotSupported(indexPath(at('operations'), i), asTypedText(operation), OPERATIONS)],
    ),
    ...checkSome(stringsAt(rule, 'apiGroups'), at('apiGroups'), 'API groups', { emptyIsOne: true }),
    ...checkSome(stringsAt(rule, 'apiVersions'), at('apiVersions'), 'API versions'),
    ...checkResources(stringsAt(rule, 'resources'), at('resources')),
    ...(has(rule, 'scope') ? checkOneOf(stringAt(rule, 'scope'), SCOPES, at('scope')) : []),
  ]
}

/** At least one value; '*' must be the only one. */
function checkSome(values: readonly string[], path: string, what: string, { emptyIsOne = false } = {}): FieldError[] {
  if (values.length === 0) return [fieldRequired(path)]
  const errors =
    values.length > 1 && values.includes('*')
      ? [fieldInvalid(path, [...values], `if '*' is present, must not specify other ${what}`)]
      : []
  const empty = emptyIsOne
    ? []
    : values.flatMap((value, i) => (value === '' ? [fieldRequired(indexPath(path, i))] : []))
  return [...errors, ...empty]
}

/** Resources and subresources. What a '*' includes must not be named beside it. */
function checkResources(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [fieldRequired(path)]
  const allSubresourcesOf = new Set<string>()
  const ofAllResources = new Set<string>()
  const errors = resources.flatMap((resource, i) => {
    const at = indexPath(path, i)
    if (resource === '') return [fieldRequired(at)]
    const slash = resource.indexOf('/')
    if (slash < 0) return []
    const [name, subresource] = [resource.slice(0, slash), resource.slice(slash + 1)]
    const wider = [
      allSubresourcesOf.has(name) ? `${name}/*` : [],
      ofAllResources.has(subresource) ? `*/${subresource}` : [],
    ].flat()
    if (subresource === '*') allSubresourcesOf.add(name)
    if (name === '*') ofAllResources.add(subresource)
    return wider.map(each => fieldInvalid(at, resource, `if '${each}' is present, must not specify ${resource}`))
  })
  const refuse = (why: string): FieldError => fieldInvalid(path, [...resources], why)
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(refuse("if '*/*' is present, must not specify other resources"))
  }
  // Like kube-apiserver, which accepts resources before the '*'.
  const last = resources.findLast(each => each !== '' && !each.includes('/'))
  if (resources.includes('*') && last !== '*') {
    errors.push(refuse("if '*' is present, must not specify other resources without subresources"))
  }
  return errors
}

/** The requests that a policy or a binding applies to. */
export function checkMatchResources(object: ValueObject, field: string, path: string): FieldError[] {
  const resources = objectOrNone(object, field)
  if (resources === undefined) return []
  const at = (member: string): string => `${path}.${field}.${member}`
  return [
    ...(has(resources, 'matchPolicy')
      ? checkOneOf(stringAt(resources, 'matchPolicy'), ['Equivalent', 'Exact'], at('matchPolicy'))
      : [fieldRequired(at('matchPolicy'))]),
    ...['namespaceSelector', 'objectSelector'].flatMap(member => {
      const selector = objectOrNone(resources, member)
      return selector === undefined ? [fieldRequired(at(member))] : checkLabelSelector(selector, at(member))
    }),
    ...['resourceRules', 'excludeResourceRules'].flatMap(rules =>
      objectsAt(resources, rules).flatMap((rule, i) => {
        const each = indexPath(at(rules), i)
        return checkNames(rule, `${each}.resourceNames`).concat(checkRule(rule, each))
      }),
    ),
  ]
}

/** A mutating policy cannot apply to deletions. */
export const mutatingOperations = (field: string): Rule =>
  check((spec, path) =>
    objectsAt(objectAt(spec, field), 'resourceRules').flatMap(rule =>
      stringsAt(rule, 'operations').flatMap(operation =>
        MUTATING_OPERATIONS.includes(operation)
          ? []
          : [
              fieldNotSupported(
                `${path}.${field}.resourceRules.operations`,
                asTypedText(operation),
                MUTATING_OPERATIONS,
              ),
            ],
      ),
    ),
  )

const MUTATING_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE']

const checkNames = (rule: ValueObject, path: string): FieldError[] => {
  const names = stringsAt(rule, 'resourceNames')
  const repeats = repeatsOf(names)
  return names.flatMap((name, i) => {
    const at = indexPath(path, i)
    const repeated = repeats.has(i) ? [fieldDuplicate(at, name)] : []
    return checkText(name, text => checkPathSegment(text), at).concat(repeated)
  })
}

const MAX_CONDITIONS = 64

/** `variables`: what the conditions may refer to. */
export function checkMatchConditions(object: ValueObject, path: string, variables: AdmissionVariables): FieldError[] {
  const at = childPath(path, 'matchConditions')
  const checkCondition = (expression: string, where: string): FieldError[] => {
    if (expression === '') return [fieldRequired(where)]
    const compiled = compileMatchCondition(expression, variables)
    if (compiled.ok) return []
    return [compiled.internal ? fieldInternal(where, compiled.error) : fieldInvalid(where, expression, compiled.error)]
  }
  const conditions = objectsAt(object, 'matchConditions')
  const names = new Set<string>()
  return [
    ...(conditions.length > MAX_CONDITIONS ? [fieldTooMany(at, conditions.length, MAX_CONDITIONS)] : []),
    ...conditions.flatMap((condition, i) => {
      const name = stringAt(condition, 'name')
      const namePath = `${indexPath(at, i)}.name`
      const repeated = name !== '' && names.has(name) ? [fieldDuplicate(namePath, name)] : []
      names.add(name)
      const expression = checkCondition(stringAt(condition, 'expression').trim(), `${indexPath(at, i)}.expression`)
      const named = name === '' ? [fieldRequired(namePath)] : checkText(name, checkQualifiedName, namePath)
      return [expression, named, repeated].flat()
    }),
  ]
}

/** The warning about a version before v1 of a kind of mutating policies. */
export function deprecatedMutation(version: 'v1beta1' | 'v1alpha1', kind: string): string {
  const deprecation = version === 'v1beta1' ? { since: 37, use: 'v1' } : { since: 35 }
  return deprecationWarning(`admissionregistration.k8s.io/${version}`, kind, deprecation)
}
