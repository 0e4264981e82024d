// Roles and their bindings.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain, checkPathSegment } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import { objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { equalValues, type Value, type ValueObject } from '../../meta/values/value.js'
import { checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

const GROUP = 'rbac.authorization.k8s.io'

// ---- roles

function checkRule(rule: ValueObject, namespaced: boolean, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (stringsAt(rule, 'verbs').length === 0) {
    errors.push(fieldRequired(childPath(path, 'verbs'), 'verbs must contain at least one value'))
  }
  const urls = stringsAt(rule, 'nonResourceURLs')
  const hasGroups = stringsAt(rule, 'apiGroups').length > 0
  const hasResources = stringsAt(rule, 'resources').length > 0
  if (urls.length > 0) {
    const at = childPath(path, 'nonResourceURLs')
    if (namespaced) errors.push(fieldInvalid(at, [...urls], 'namespaced rules cannot apply to non-resource URLs'))
    if (hasGroups || hasResources || stringsAt(rule, 'resourceNames').length > 0) {
      errors.push(fieldInvalid(at, [...urls], 'rules cannot apply to both regular resources and non-resource URLs'))
    }
    return errors
  }
  if (!hasGroups) {
    errors.push(fieldRequired(childPath(path, 'apiGroups'), 'resource rules must supply at least one api group'))
  }
  if (!hasResources) {
    errors.push(fieldRequired(childPath(path, 'resources'), 'resource rules must supply at least one resource'))
  }
  return errors
}

const checkRole = (role: ValueObject, namespaced: boolean): FieldError[] => [
  ...checkMeta(role, { namespaced, name: checkPathSegment }),
  ...objectsAt(role, 'rules').flatMap((rule, i) => checkRule(rule, namespaced, indexPath('rules', i))),
  ...(namespaced ? [] : checkAggregation(role)),
]

function checkAggregation(role: ValueObject): FieldError[] {
  const aggregation = objectOrNone(role, 'aggregationRule')
  if (aggregation === undefined) return []
  const path = 'aggregationRule.clusterRoleSelectors'
  const selectors = objectsAt(aggregation, 'clusterRoleSelectors')
  if (selectors.length === 0) {
    return [fieldRequired(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  }
  return selectors.flatMap((selector, i) => {
    const at = indexPath(path, i)
    const errors = checkLabelSelector(selector, at)
    if (errors.length > 0) errors.push(fieldInvalid(at, null, 'invalid label selector.'))
    return errors
  })
}

const roleValidationOf = (namespaced: boolean): Validation => ({
  create: role => checkRole(role, namespaced),
  update: (role, old) => [...checkRole(role, namespaced), ...checkMetaUpdate(role, old)],
})

export const roleValidation = roleValidationOf(true)
export const clusterRoleValidation = roleValidationOf(false)

// ---- bindings

function checkBinding(binding: ValueObject, namespaced: boolean): FieldError[] {
  const roleRef = objectAt(binding, 'roleRef')
  const errors = checkMeta(binding, { namespaced, name: checkPathSegment })
  const group = stringAt(roleRef, 'apiGroup')
  if (group !== GROUP) errors.push(fieldNotSupported('roleRef.apiGroup', group, [GROUP]))
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  const kind = stringAt(roleRef, 'kind')
  if (!kinds.includes(kind)) errors.push(fieldNotSupported('roleRef.kind', kind, kinds))
  const name = stringAt(roleRef, 'name')
  if (name === '') errors.push(fieldRequired('roleRef.name'))
  else errors.push(...checkText(name, checkPathSegment, 'roleRef.name'))
  const subjects = objectsAt(binding, 'subjects').flatMap((subject, i) =>
    checkSubject(subject, namespaced, indexPath('subjects', i)),
  )
  return [...errors, ...subjects]
}

function checkSubject(subject: ValueObject, namespaced: boolean, path: string): FieldError[] {
  const name = stringAt(subject, 'name')
  const group = stringAt(subject, 'apiGroup')
  const errors = name === '' ? [fieldRequired(childPath(path, 'name'))] : []
  const inGroup = (expected: string): FieldError[] =>
    group === expected ? [] : [fieldNotSupported(childPath(path, 'apiGroup'), group, [expected])]
  switch (stringAt(subject, 'kind')) {
    case 'ServiceAccount': {
      if (name !== '') errors.push(...checkText(name, checkDnsSubdomain, childPath(path, 'name')))
      errors.push(...inGroup(''))
      const namespace = stringAt(subject, 'namespace')
      if (namespace !== '') errors.push(...checkText(namespace, checkDnsLabel, childPath(path, 'namespace')))
      // In a namespace of its own the binding can stand for the account's.
      else if (!namespaced) errors.push(fieldRequired(childPath(path, 'namespace')))
      return errors
    }
    case 'User':
    case 'Group':
      return [...errors, ...inGroup(GROUP)]
    default:
      return [
        ...errors,
        fieldNotSupported(childPath(path, 'kind'), stringAt(subject, 'kind'), ['ServiceAccount', 'User', 'Group']),
      ]
  }
}

/** The role of a binding stays: to grant another one, make another binding. */
function checkSameRole(binding: ValueObject, old: ValueObject): FieldError[] {
  const roleRef = objectAt(binding, 'roleRef')
  if (equalValues(roleRef, objectAt(old, 'roleRef'))) return []
  const shown: Value = {
    APIGroup: stringAt(roleRef, 'apiGroup'),
    Kind: stringAt(roleRef, 'kind'),
    Name: stringAt(roleRef, 'name'),
  }
  return [fieldInvalid('roleRef', asStruct(shown), 'cannot change roleRef')]
}

const bindingValidationOf = (namespaced: boolean): Validation => ({
  create: binding => checkBinding(binding, namespaced),
  update: (binding, old) => [
    ...checkBinding(binding, namespaced),
    ...checkMetaUpdate(binding, old),
    ...checkSameRole(binding, old),
  ],
})

export const roleBindingValidation = bindingValidationOf(true)
export const clusterRoleBindingValidation = bindingValidationOf(false)
