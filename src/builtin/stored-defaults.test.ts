import { expect, test } from 'vitest'
import type { ApiObject } from '../meta/object/api-object.js'
import type { ValueObject } from '../meta/values/value.js'
import { builtinTypes } from '../types/type-table.js'
import { builtinKindsWith } from './builtin-kinds.js'
import type { IpFamily } from './common/ip-rules.js'
import { storedDefaults } from './stored-defaults.js'

const kinds = builtinKindsWith(builtinTypes(), {})
const read = (kind: string, spec: ValueObject, families: readonly IpFamily[] = ['IPv4']): ApiObject =>
  storedDefaults(
    (_, name) => kinds.find(({ names }) => names.kind === name)!.versions[0]!.strategy,
    families,
  )({ apiVersion: 'v1', kind, metadata: { name: 'a' }, spec })

const PORTS = [{ port: 80, protocol: 'TCP', targetPort: 80 }]

test.each<[string, ValueObject, ValueObject]>([
  [
    'with an address',
    { clusterIP: '10.0.0.1', ports: [{ port: 80 }] },
    {
      type: 'ClusterIP',
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      sessionAffinity: 'None',
      ports: PORTS,
    },
  ],
  [
    'with addresses of both families',
    { clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.0.0.1'] },
    { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' },
  ],
  [
    'without an address',
    { clusterIP: 'None', selector: { a: 'b' } },
    { clusterIPs: ['None'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
  ],
  [
    'without an address and a selector',
    { clusterIP: 'None' },
    { clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
  ],
])('a service %s', (_, spec, expected) => {
  expect(read('Service', spec)['spec']).toMatchObject(expected)
})

test('a service of another name has no families and no traffic policy', () => {
  const spec = { type: 'ExternalName', externalName: 'a.b', clusterIP: 'None', internalTrafficPolicy: 'Cluster' }
  expect(read('Service', spec)['spec']).toEqual({
    type: 'ExternalName',
    externalName: 'a.b',
    clusterIP: 'None',
    clusterIPs: ['None'],
    sessionAffinity: 'None',
  })
})

test('families come in the order of the cluster', () => {
  expect(read('Service', { clusterIP: 'None' }, ['IPv6'])['spec']).toMatchObject({ ipFamilies: ['IPv6', 'IPv4'] })
})

test('a claim names its source twice', () => {
  const source = { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'x' }
  expect(read('PersistentVolumeClaim', { dataSource: source })['spec']).toMatchObject({
    dataSource: source,
    dataSourceRef: source,
    volumeMode: 'Filesystem',
  })
})

test('an object with all its defaults stays as it is', () => {
  const once = read('Service', { clusterIP: '10.0.0.1', ports: [{ port: 80 }] })
  expect(read('Service', structuredClone(once['spec']) as ValueObject)).toEqual(once)
})
