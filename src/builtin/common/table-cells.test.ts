import { expect, test } from 'vitest'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { builtinTypes } from '../../types/type-table.js'
import { created, tableRowOf } from '../written-objects.suite.js'

const table = builtinTypes()
const now = Date.parse('2020-01-01T00:05:30Z')
const metadata = { creationTimestamp: '2020-01-01T00:00:00Z' }
const AGE = '5m30s'

const cells = (apiVersion: string, kind: string, resource: string, plain: ValueObject): Value[] =>
  tableRowOf(apiVersion, resource)(created(apiVersion, kind, { metadata, ...plain }), now)

test.each<[string, string, string, ValueObject, Value[]]>([
  ['v1', 'Namespace', 'namespaces', {}, ['x', 'Active', AGE]],
  ['v1', 'ConfigMap', 'configmaps', { data: { a: '1' }, binaryData: { b: 'AA==' } }, ['x', 2, AGE]],
  ['v1', 'Secret', 'secrets', { stringData: { a: '1' } }, ['x', 'Opaque', 1, AGE]],
  ['v1', 'ServiceAccount', 'serviceaccounts', {}, ['x', AGE]],
  [
    'v1',
    'Endpoints',
    'endpoints',
    { subsets: [{ addresses: [1, 2, 3, 4].map(n => ({ ip: `192.0.2.${n}` })), ports: [{ port: 80 }] }] },
    ['x', '192.0.2.1:80,192.0.2.2:80,192.0.2.3:80 + 1 more...', AGE],
  ],
  [
    'v1',
    'Service',
    'services',
    { spec: { clusterIP: 'None', selector: { b: '2', a: '1' }, ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }] } },
    ['x', 'ClusterIP', 'None', '<none>', '80/TCP,53/UDP', AGE, 'a=1,b=2'],
  ],
  [
    'v1',
    'Service',
    'services',
    { spec: { type: 'LoadBalancer' } },
    ['x', 'LoadBalancer', '<none>', '<pending>', '<none>', AGE, '<none>'],
  ],
  [
    'v1',
    'Node',
    'nodes',
    {
      metadata: { ...metadata, labels: { 'node-role.kubernetes.io/worker': '' } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '10.9.0.1' }],
      },
    },
    ['x', 'Ready,SchedulingDisabled', 'worker', AGE, '', '10.9.0.1', '<none>', '<unknown>', '<unknown>', '<unknown>'],
  ],
  [
    'v1',
    'Event',
    'events',
    {
      involvedObject: { kind: 'Pod', name: 'p' },
      source: { component: 'kubelet', host: 'n' },
      message: ' m ',
      lastTimestamp: metadata.creationTimestamp,
    },
    [AGE, '', '', 'pod/p', '', 'kubelet, n', 'm', '<unknown>', 1, 'x'],
  ],
  [
    'apps/v1',
    'Deployment',
    'deployments',
    {
      spec: {
        selector: { matchLabels: { app: 'a' } },
        template: {
          spec: {
            containers: [
              { name: 'c', image: 'i' },
              { name: 'd', image: 'j' },
            ],
          },
        },
      },
    },
    ['x', '0/1', 0, 0, AGE, 'c,d', 'i,j', 'app=a'],
  ],
  ['rbac.authorization.k8s.io/v1', 'Role', 'roles', {}, ['x', metadata.creationTimestamp]],
])('%s %s (%#)', (apiVersion, kind, resource, plain, expected) => {
  expect(cells(apiVersion, kind, resource, plain)).toEqual(expected)
})

test('every column of every resource has a cell', () => {
  const counts = table.groupVersions().flatMap(apiVersion =>
    table.resources(apiVersion).flatMap(({ name }) => {
      const columns = table.columns(apiVersion, name)
      const row = tableRowOf(apiVersion, name)({ metadata: { name: 'x' } }, now)
      // In kube-apiserver, too, the rows of addresses have a cell for the age and the table has no column for it.
      const count = row.length - (name === 'ipaddresses' ? 1 : 0)
      return columns === undefined || columns.length === count ? [] : [`${apiVersion} ${name}`]
    }),
  )
  expect(counts).toEqual([])
})
