import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { created, errorsOf, errorsOfChange, tableRowOf } from '../written-objects.suite.js'

const RBAC = 'rbac.authorization.k8s.io/v1'

test.each<[string, ValueObject, string[]]>([
  [
    'RoleBinding',
    {},
    ['roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"', 'roleRef.name: Required value'],
  ],
  [
    'ClusterRoleBinding',
    { roleRef: { kind: 'Role', name: 'r' } },
    ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  ],
  [
    'RoleBinding',
    { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'Odd', name: 'x' }, { kind: 'User' }] },
    [
      'subjects[0].kind: Unsupported value: "Odd": supported values: "ServiceAccount", "User", "Group"',
      'subjects[1].name: Required value',
    ],
  ],
])('a %s with %j', (kind, object, errors) => {
  expect(errorsOf(RBAC, kind, object)).toEqual(errors)
})

test('the role of a binding stays', () => {
  const binding = { roleRef: { kind: 'Role', name: 'r' } }
  expect(errorsOfChange(RBAC, 'RoleBinding', binding, { roleRef: { name: 'other' } })).toEqual([
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"other"}: cannot change roleRef',
  ])
})

test('accounts of a ClusterRoleBinding have a namespace', () => {
  const binding = { roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [{ kind: 'ServiceAccount', name: 's' }] }
  expect(errorsOf(RBAC, 'RoleBinding', binding)).toEqual([])
  expect(errorsOf(RBAC, 'ClusterRoleBinding', binding)).toEqual(['subjects[0].namespace: Required value'])
})

const binding = {
  roleRef: { kind: 'Role', name: 'r' },
  subjects: [
    { kind: 'User', name: 'u' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  ],
}

test('role, users and groups are of the group of RBAC by default', () => {
  expect(created(RBAC, 'RoleBinding', binding)).toMatchObject({
    roleRef: { apiGroup: 'rbac.authorization.k8s.io' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io' }, { kind: 'ServiceAccount' }],
  })
})

test('the row lists the subjects by kind', () => {
  const row = tableRowOf(RBAC, 'rolebindings')(created(RBAC, 'RoleBinding', binding), 0)
  expect(row).toEqual(['x', 'Role/r', '<unknown>', 'u', '', 'n/s'])
})
