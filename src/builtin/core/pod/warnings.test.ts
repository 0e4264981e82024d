import { expect, test } from 'vitest'
import type { ValueObject } from '../../../meta/values/value.js'
import { created, warningsFor } from '../../written-objects.suite.js'

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
  [
    { nodeSelector: { 'node-role.kubernetes.io/master': '' } },
    ['spec.nodeSelector[node-role.kubernetes.io/master]: use "node-role.kubernetes.io/control-plane" instead'],
  ],
  [
    {
      containers: [
        { ...container, ports: [{ containerPort: 80, name: 'web' }] },
        { ...container, name: 'd', ports: [{ containerPort: 80, hostPort: 1, name: 'web' }] },
      ],
    },
    [
      'spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[0]',
      'spec.containers[1].ports[0]: duplicate port name "web" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
    ],
  ],
  [
    {
      volumes: [
        { name: 'v', gitRepo: { repository: 'r' } },
        { name: 'w', storageos: {} },
      ],
    },
    [
      'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
      'spec.volumes[1].storageOS: deprecated in v1.22, non-functional in v1.25+',
    ],
  ],
  [{ volumes: [{ name: 'v', projected: { sources: [{}] } }] }, ['volume "v" (Projected) has no sources provided']],
  [
    {
      volumes: [
        {
          name: 'v',
          configMap: {
            name: 'm',
            items: [
              { key: 'a', path: 'p' },
              { key: 'b', path: 'p/q' },
            ],
          },
        },
      ],
    },
    ['volume "v" (ConfigMap "m"): overlapping paths: "p/q" with "p"'],
  ],
  // It has become 1 before.
  [{ terminationGracePeriodSeconds: -1 }, []],
  [
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }] },
    ['spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod'],
  ],
])('a pod with %j', (spec, warnings) => {
  expect(warningsFor('v1', 'Pod', created('v1', 'Pod', { spec: { containers: [container], ...spec } }))).toEqual(
    warnings,
  )
})

test('deprecated annotations of a template are warned of', () => {
  const annotations = {
    'scheduler.alpha.kubernetes.io/critical-pod': '',
    'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default',
    'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default',
  }
  const at = 'spec.template.metadata.annotations'
  const warnings = (securityContext: ValueObject): string[] =>
    warningsFor('apps/v1', 'Deployment', {
      metadata: { name: 'x' },
      spec: { template: { metadata: { annotations }, spec: { containers: [container], securityContext } } },
    })
  expect(warnings({})).toEqual([
    `${at}[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead`,
    `${at}[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead`,
    `${at}[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`,
  ])
  const profiles = { seccompProfile: { type: 'RuntimeDefault' }, appArmorProfile: { type: 'RuntimeDefault' } }
  expect(warnings(profiles)).toHaveLength(1)
})

test('a pod with very many equal ports gets a limited number of warnings', () => {
  const ports = Array.from({ length: 5000 }, () => ({ containerPort: 80, protocol: 'TCP' }))
  const pod = { metadata: { name: 'x' }, spec: { containers: [{ ...container, ports }] } }
  expect(warningsFor('v1', 'Pod', pod)).toHaveLength(100)
})

test('what was not changed is not warned of again', () => {
  const pod = created('v1', 'Pod', { metadata: { name: 'a.b' }, spec: { imagePullSecrets: [{}] } })
  expect(warningsFor('v1', 'Pod', pod)).toEqual([
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    'spec.imagePullSecrets[0].name: invalid empty name ""',
  ])
  expect(warningsFor('v1', 'Pod', pod, pod)).toEqual([])
})
