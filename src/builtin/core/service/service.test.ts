import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../../meta/values/value.js'
import { created, errorsOf, errorsOfChange } from '../../written-objects.suite.js'

const RANGE = 'must be between 1 and 65535, inclusive'

test.each<[ValueObject, string[]]>([
  [{ ports: [{ port: 80 }] }, []],
  [{}, ['spec.ports: Required value']],
  [
    { ports: [{ port: 0 }] },
    [`spec.ports[0].port: Invalid value: 0: ${RANGE}`, `spec.ports[0].targetPort: Invalid value: 0: ${RANGE}`],
  ],
  [{ ports: [{ port: 1 }, { port: 2 }] }, ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value']],
  [
    {
      ports: [
        { name: 'a', port: 1 },
        { name: 'a', port: 2 },
      ],
    },
    ['spec.ports[1].name: Duplicate value: "a"'],
  ],
  [
    {
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 1 },
      ],
    },
    [
      'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}',
    ],
  ],
  [
    { ports: [{ port: 1, protocol: 'ICMP' }] },
    ['spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    { ports: [{ port: 1, nodePort: 30_999 }] },
    ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  ],
  [
    { type: 'Other', ports: [{ port: 1 }] },
    [
      'spec.type: Unsupported value: "Other": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
  ],
  [
    { externalTrafficPolicy: 'Local', ports: [{ port: 1 }] },
    ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
  ],
  [
    { type: 'LoadBalancer', ports: [{ port: 1 }], loadBalancerSourceRanges: ['x'] },
    [
      'spec.LoadBalancerSourceRanges[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  ],
  [
    { ports: [{ port: 1 }], externalIPs: ['127.0.0.1', 'x', '10.0.0.1'] },
    [
      'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'spec.externalIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    { clusterIP: '10.0.0.1', ipFamilies: ['IPv6'], ports: [{ port: 1 }] },
    ['spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`'],
  ],
  [{ type: 'ExternalName', externalName: 'x.example.com.' }, []],
  [{ type: 'ExternalName' }, ['spec.externalName: Required value']],
])('a service with %j', (spec, errors) => {
  expect(errorsOf('v1', 'Service', { spec })).toEqual(errors)
})

describe('updates', () => {
  const service = { spec: { clusterIP: '10.0.0.11', ports: [{ port: 80 }] } }

  test('an address stays', () => {
    expect(errorsOfChange('v1', 'Service', service, { spec: { clusterIP: '10.0.0.12' } })).toEqual([
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.12"]: may not change once set',
    ])
    expect(errorsOfChange('v1', 'Service', service, { spec: { clusterIP: null, clusterIPs: null } })).toEqual([])
  })

  test('a status names addresses that exist', () => {
    const balanced = { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }
    const patch = { status: { loadBalancer: { ingress: [{ ip: 'nonsense' }] } } }
    expect(errorsOfChange('v1', 'Service', balanced, patch, 'status')).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "nonsense": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ])
  })
})

test.each<[ValueObject, string[]]>([
  [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }, []],
  [{ ports: [{ port: 80 }] }, ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`']],
  [
    { addresses: [{ ip: 'x' }] },
    [
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
    ],
  ],
  [
    { addresses: [{ ip: '::1' }] },
    ['subsets[0].addresses[0].ip: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
])('endpoints with %j', (subset, errors) => {
  expect(errorsOf('v1', 'Endpoints', { subsets: [subset] })).toEqual(errors)
})

test.each([
  ['Cluster', undefined],
  ['Local', undefined],
  ['', ''],
  ['Odd', 'Odd'],
])('an ExternalName service with the internal traffic policy %j keeps %j', (policy, kept) => {
  const spec = { type: 'ExternalName', externalName: 'a.b', internalTrafficPolicy: policy }
  const service = created('v1', 'Service', { metadata: { name: 'a' }, spec })
  expect((service['spec'] as ValueObject)['internalTrafficPolicy']).toBe(kept)
})
