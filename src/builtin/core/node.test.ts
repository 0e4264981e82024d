import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { errorsOf, errorsOfChange } from '../written-objects.suite.js'

const EFFECTS = '"NoSchedule", "PreferNoSchedule", "NoExecute"'

test.each<[ValueObject, string[]]>([
  [{ taints: [{ key: 'k', effect: 'NoExecute' }], podCIDRs: ['10.0.0.0/24', '2001:db8::/64'] }, []],
  [
    { taints: [{ key: 'k', effect: 'Odd' }] },
    [`metadata.taints[0].effect: Unsupported value: "Odd": supported values: ${EFFECTS}`],
  ],
  [
    {
      taints: [
        { key: 'k', effect: 'NoSchedule' },
        { key: 'k', effect: 'NoSchedule' },
      ],
    },
    [
      'metadata.taints[1]: Duplicate value: {"Key":"k","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    ],
  ],
  [
    { podCIDRs: ['x'] },
    ['spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
  ],
])('a node with %j', (spec, errors) => {
  expect(errorsOf('v1', 'Node', { spec })).toEqual(errors)
})

test('what a node was given it keeps', () => {
  const node = { spec: { podCIDR: '10.2.0.0/24', providerID: 'x://1' } }
  expect(errorsOfChange('v1', 'Node', node, { spec: { podCIDR: '10.3.0.0/24', providerID: 'x://2' } })).toEqual([
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
  ])
})
