import { describe, expect, test } from 'vitest'
import type { ApiObject } from '../../meta/object/api-object.js'
import { stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { bootstrapPolicy } from './policy.js'
import { reconcilePolicy, splitBinding } from './reconcile.js'

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'
const rule = (resource: string, ...verbs: string[]): ValueObject => ({ verbs, apiGroups: [''], resources: [resource] })

const object = (kind: string, rest: ValueObject, metadata: ValueObject = {}): ApiObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name: 'a', labels: { l: '1' }, annotations: { [AUTOUPDATE]: 'true' }, ...metadata },
  ...rest,
})
const role = (...rules: ValueObject[]): ApiObject => object('ClusterRole', { rules })

describe('a stored role', () => {
  test('is left alone if it grants what it should', () => {
    expect(reconcilePolicy(role(rule('pods', '*')), role(rule('pods', 'get', 'list')))).toBeUndefined()
  })

  test('gets the rules that it lacks, and keeps those that were added to it', () => {
    const stored = role(rule('secrets', 'get'), rule('pods', 'get'))
    expect(reconcilePolicy(stored, role(rule('pods', 'get', 'list')))).toEqual(
      role(rule('secrets', 'get'), rule('pods', 'get'), rule('pods', 'list')),
    )
  })

  test('gets labels and annotations that it lacks, and keeps its own values', () => {
    const stored = object('ClusterRole', { rules: [] }, { labels: { l: 'own', m: '2' }, annotations: {} })
    expect(reconcilePolicy(stored, role())).toEqual(
      object('ClusterRole', { rules: [] }, { labels: { l: 'own', m: '2' } }),
    )
  })

  test('is left alone if it says so', () => {
    const stored = object('ClusterRole', { rules: [] }, { annotations: { [AUTOUPDATE]: 'false' } })
    expect(reconcilePolicy(stored, role(rule('pods', 'get')))).toBeUndefined()
  })

  test('gets the selectors of an aggregation that it lacks, or loses its aggregation', () => {
    const selecting = (...names: string[]): ValueObject => ({
      aggregationRule: { clusterRoleSelectors: names.map(name => ({ matchLabels: { [name]: 'true' } })) },
    })
    const both = reconcilePolicy(object('ClusterRole', selecting('x')), object('ClusterRole', selecting('y')))
    expect(both).toEqual(object('ClusterRole', selecting('x', 'y')))
    expect(reconcilePolicy(object('ClusterRole', { rules: [], ...selecting('x') }), role())).toEqual(role())
  })
})

describe('a stored binding', () => {
  const binding = (roleName: string, ...users: string[]): ApiObject =>
    object('ClusterRoleBinding', {
      subjects: users.map(name => ({ kind: 'User', name })),
      roleRef: { kind: 'ClusterRole', name: roleName },
    })

  test('gets the subjects that it lacks', () => {
    expect(reconcilePolicy(binding('r', 'x'), binding('r', 'y'))).toEqual(binding('r', 'x', 'y'))
  })

  test('of another role is created anew', () => {
    expect(reconcilePolicy(binding('other', 'x'), binding('r', 'x'))).toBe('recreate')
  })
})

test('the policy has as many objects as that of kube-apiserver v1.36, and is stable', () => {
  const counts: Record<string, number> = {}
  for (const { kind } of bootstrapPolicy()) counts[kind] = (counts[kind] ?? 0) + 1
  expect(counts).toEqual({ ClusterRole: 69, ClusterRoleBinding: 50, Role: 7, RoleBinding: 7 })
  for (const each of bootstrapPolicy()) expect(reconcilePolicy(each, structuredClone(each))).toBeUndefined()
})

test('gates add roles and rules, and take them away', () => {
  const rulesOf = (gates: Record<string, boolean>): Map<string, unknown> =>
    new Map(
      bootstrapPolicy(gates).flatMap(each =>
        each.kind === 'ClusterRole' ? [[stringAt(each.metadata, 'name'), each['rules']] as const] : [],
      ),
    )
  const plain = rulesOf({})
  const changed = (gates: Record<string, boolean>): string[] => {
    const now = rulesOf(gates)
    const names = [...new Set([...plain.keys(), ...now.keys()])]
    return names.filter(name => JSON.stringify(plain.get(name)) !== JSON.stringify(now.get(name)))
  }
  expect(changed({ StorageVersionMigrator: true })).toEqual(['system:controller:storage-version-migrator-controller'])
  expect(changed({ PodCertificateRequest: true })).toEqual([
    'system:node',
    'system:controller:podcertificaterequestcleaner',
  ])
  expect(rulesOf({ DRADeviceTaints: false }).has('system:controller:device-taint-eviction-controller')).toBe(false)
  expect(changed({ DRAExtendedResource: false })).toEqual(['system:kube-scheduler'])
  expect(changed({ DRAResourceClaimGranularStatusAuthorization: false })).toHaveLength(2)
  expect(changed({ KubeletServiceAccountTokenForCredentialProviders: false })).toEqual(['system:node'])
  const bindings = bootstrapPolicy({ ClusterTrustBundle: true }).filter(({ kind }) => kind === 'ClusterRoleBinding')
  expect(bindings.map(({ metadata }) => metadata['name'])).toContain('system:cluster-trust-bundle-discovery')
})

describe('a binding that was split off from another', () => {
  const binding = (subjects: string[], metadata: ValueObject = {}): ApiObject =>
    object('ClusterRoleBinding', { roleRef: { name: 'r' }, subjects: subjects.map(name => ({ name })) }, metadata)

  test('has the subjects of the other, and what the policy adds', () => {
    const source = binding(['own'], { name: 'old' })
    expect(splitBinding(source, binding(['expected']))).toEqual(binding(['own', 'expected']))
  })

  test('has only the subjects of the other if that is not to be changed', () => {
    const marks = { annotations: { [AUTOUPDATE]: 'false', note: 'kept' } }
    expect(splitBinding(binding(['own'], { name: 'old', ...marks }), binding(['expected']))).toEqual(
      binding(['own'], marks),
    )
  })
})
