import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { errorsOf } from '../written-objects.suite.js'

const RBAC = 'rbac.authorization.k8s.io/v1'

test.each<[string, ValueObject, string[]]>([
  ['Role', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }, []],
  [
    'Role',
    { rules: [{}] },
    [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ],
  ],
  [
    'Role',
    { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] },
    ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
  ],
  ['Role', { metadata: { name: 'a/b' } }, ['metadata.name: Invalid value: "a/b": may not contain \'/\'']],
  ['ClusterRole', { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] }, []],
  [
    'ClusterRole',
    { rules: [{ nonResourceURLs: ['/x'], resources: ['pods'], verbs: ['get'] }] },
    [
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
  [
    'ClusterRole',
    { aggregationRule: {} },
    [
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ],
  ],
])('a %s with %j', (kind, object, errors) => {
  expect(errorsOf(RBAC, kind, object)).toEqual(errors)
})
