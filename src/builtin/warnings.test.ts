import { expect, test } from 'vitest'
import type { ValueObject } from '../meta/values/value.js'
import { created, warningsFor } from './written-objects.suite.js'

const container = { name: 'c', image: 'i' }

test.each<[ValueObject, string[]]>([
  [{}, []],
  [
    {
      containers: [
        {
          ...container,
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
          ],
        },
      ],
    },
    ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
  ],
  [
    {
      containers: [
        {
          ...container,
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '$(A)2' },
          ],
        },
      ],
    },
    [],
  ],
  [
    { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    { containers: [{ ...container, resources: { requests: { memory: '1100m' } } }] },
    ['spec.containers[0].resources.requests[memory]: fractional byte value "1100m" is invalid, must be an integer'],
  ],
  [
    { containers: [{ ...container, ports: [{ containerPort: 80 }, { containerPort: 80 }] }] },
    ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
  ],
  [{ imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }, ['spec.imagePullSecrets[1].name: duplicate name "a"']],
])('a pod with %j', (spec, warnings) => {
  expect(warningsFor('v1', 'Pod', created('v1', 'Pod', { spec: { containers: [container], ...spec } }))).toEqual(
    warnings,
  )
})

test('what was not changed is not warned of again', () => {
  const pod = created('v1', 'Pod', { metadata: { name: 'a.b' }, spec: { imagePullSecrets: [{}] } })
  expect(warningsFor('v1', 'Pod', pod)).toEqual([
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    'spec.imagePullSecrets[0].name: invalid empty name ""',
  ])
  expect(warningsFor('v1', 'Pod', pod, pod)).toEqual([])
})

test('a certificate that is none', () => {
  const secret = created('v1', 'Secret', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x', 'tls.key': 'x' } })
  expect(warningsFor('v1', 'Secret', secret)).toEqual(['tls: failed to find any PEM data in certificate input'])
})
