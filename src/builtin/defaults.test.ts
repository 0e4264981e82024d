import { expect, test } from 'vitest'
import { created } from './written-objects.suite.js'

test('bindings of roles belong to the group of roles', () => {
  const binding = created('rbac.authorization.k8s.io/v1', 'RoleBinding', {
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'ServiceAccount', name: 's' },
    ],
  })
  expect(binding).toMatchObject({
    roleRef: { apiGroup: 'rbac.authorization.k8s.io' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io' }, { kind: 'ServiceAccount' }],
  })
})
