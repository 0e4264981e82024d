// Role and ClusterRole: what may be done with which resources, in a namespace or everywhere.
import { childPath, fieldInvalid, fieldRequired, indexPath } from '../../meta/errors/field-errors.js'
import { checkPathSegment } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import { objectsAt, stringsAt } from '../../meta/values/access.js'
import { defineKind, type KindDefinition } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, each, optional, type Rule, required, when } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'

// ---- rules of a role

const urls = (namespaced: boolean): Rule =>
  check((rule, path) => {
    const given = [...stringsAt(rule, 'nonResourceURLs')]
    const at = childPath(path, 'nonResourceURLs')
    const hasResources = ['apiGroups', 'resources', 'resourceNames'].some(name => stringsAt(rule, name).length > 0)
    return [
      ...(namespaced ? [fieldInvalid(at, given, 'namespaced rules cannot apply to non-resource URLs')] : []),
      ...(hasResources
        ? [fieldInvalid(at, given, 'rules cannot apply to both regular resources and non-resource URLs')]
        : []),
    ]
  })

const policyRules = (namespaced: boolean): readonly Rule[] => [
  required('verbs', 'verbs must contain at least one value'),
  when(rule => stringsAt(rule, 'nonResourceURLs').length > 0, [urls(namespaced)]),
  when(
    rule => stringsAt(rule, 'nonResourceURLs').length === 0,
    [
      required('apiGroups', 'resource rules must supply at least one api group'),
      required('resources', 'resource rules must supply at least one resource'),
    ],
  ),
]

// ---- roles that are put together from others

const selectors = check((aggregation, path) => {
  const at = childPath(path, 'clusterRoleSelectors')
  const given = objectsAt(aggregation, 'clusterRoleSelectors')
  if (given.length === 0) {
    return [fieldRequired(at, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  }
  return given.flatMap((selector, i) => {
    const errors = checkLabelSelector(selector, indexPath(at, i))
    if (errors.length > 0) errors.push(fieldInvalid(indexPath(at, i), null, 'invalid label selector.'))
    return errors
  })
})

// ---- definitions

function defineRole(kind: string, namespaced: boolean): KindDefinition {
  const rules: readonly Rule[] = [
    metadata({ namespaced, name: checkPathSegment }),
    each('rules', policyRules(namespaced)),
    ...(namespaced ? [] : [optional('aggregationRule', [selectors])]),
  ]
  return defineKind('rbac.authorization.k8s.io/v1', kind, {
    strategy: { prepareForUpdate: keepGeneration, allowCreateOnUpdate: true },
    validation: validationRules({ create: rules, update: [...rules, metadataUpdate] }),
  })
}

export const role = defineRole('Role', true)
export const clusterRole = defineRole('ClusterRole', false)
