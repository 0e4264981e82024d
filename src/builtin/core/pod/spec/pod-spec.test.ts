import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../../../meta/values/value.js'
import { errorsOf, errorsOfChange } from '../../../written-objects.suite.js'

const container = { name: 'c', image: 'i' }

test.each<[ValueObject, string[]]>([
  [{}, []],
  [{ name: '' }, ['name: Required value']],
  [{ image: '' }, ['image: Required value']],
  [{ image: ' i' }, ['image: Invalid value: " i": must not have leading or trailing whitespace']],
  [
    { lifecycle: { preStop: { sleep: { seconds: 99 } } } },
    [
      'lifecycle.preStop.sleep: Invalid value: 99: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
  ],
  [{ ports: [{ containerPort: 0 }] }, ['ports[0].containerPort: Required value']],
  [
    { ports: [{ containerPort: 70_000 }] },
    ['ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive'],
  ],
  [
    {
      ports: [
        { containerPort: 1, name: 'a' },
        { containerPort: 2, name: 'a' },
      ],
    },
    ['ports[1].name: Duplicate value: "a"'],
  ],
  [{ env: [{ value: 'x' }] }, ['env[0].name: Required value']],
  [
    { env: [{ name: 'a=b' }] },
    [
      'env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
    ],
  ],
  [
    { env: [{ name: 'A', valueFrom: {} }] },
    [
      'env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ],
  ],
  [
    { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nothing' } } }] },
    [
      'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nothing": error converting fieldPath: field label not supported: spec.nothing',
    ],
  ],
  [{ volumeMounts: [{ name: 'none', mountPath: '/x' }] }, ['volumeMounts[0].name: Not found: "none"']],
  [
    { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
    ['resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  ],
  [
    { resources: { requests: { cpu: '-1' } } },
    ['resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    { resources: { requests: { 'example.com/gpu': '1' } } },
    ['resources.limits: Required value: Limit must be set for non overcommitable resources'],
  ],
  [
    { resources: { requests: { odd: '1' } } },
    [
      'resources.requests[odd]: Invalid value: "odd": must be a standard resource type or fully qualified',
      'resources.requests[odd]: Invalid value: "odd": must be a standard resource for containers',
    ],
  ],
  [{ livenessProbe: {} }, ['livenessProbe: Required value: must specify a handler type']],
  [
    { livenessProbe: { exec: { command: ['x'] }, tcpSocket: { port: 1 } } },
    ['livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type'],
  ],
  [
    { securityContext: { runAsUser: -1 } },
    ['securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    { securityContext: { privileged: true, allowPrivilegeEscalation: false } },
    [
      'securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    ],
  ],
])('a container with %j', (fields, errors) => {
  const pod = { spec: { containers: [{ ...container, ...fields }] } }
  expect(errorsOf('v1', 'Pod', pod)).toEqual(errors.map(error => `spec.containers[0].${error}`))
})

test('a field path is divided at its first bracket, in a time that grows with its length', () => {
  const errorOf = (fieldPath: string): string | undefined => {
    const env = [{ name: 'A', valueFrom: { fieldRef: { fieldPath } } }]
    return errorsOf('v1', 'Pod', { spec: { containers: [{ ...container, env }] } })[0]
  }
  expect(errorOf("metadata.labels['a']")).toBeUndefined()
  expect(errorOf("metadata.labels['a['b']")).toContain(`fieldRef: Invalid value: "a['b": name part must consist of`)
  expect(errorOf("['".repeat(500_000))).toContain('fieldPath: Invalid value: ')
})

test.each<[ValueObject, string[]]>([
  [{ containers: [] }, ['spec.containers: Required value']],
  [{ containers: [container, container] }, ['spec.containers[1].name: Duplicate value: "c"']],
  [
    { containers: [container, { ...container, name: '' }, { ...container, name: '' }] },
    [
      'spec.containers[1].name: Required value',
      'spec.containers[2].name: Required value',
      'spec.containers[2].name: Duplicate value: ""',
    ],
  ],
  [
    {
      initContainers: [
        { name: '', image: 'i' },
        { name: '', image: 'i' },
      ],
    },
    ['spec.initContainers[0].name: Required value', 'spec.initContainers[1].name: Required value'],
  ],
  [{ volumes: [{ name: 'v' }, { name: 'v' }] }, ['spec.volumes[1].name: Duplicate value: "v"']],
  [
    { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }] },
    ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    { tolerations: [{ key: 'x', operator: 'Odd' }] },
    ['spec.tolerations[0].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"'],
  ],
  [
    { tolerations: [{ key: 'x', effect: 'NoSchedule', tolerationSeconds: 1 }] },
    [
      'spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
    ],
  ],
  [
    { initContainers: [{ name: 'i', image: 'i', livenessProbe: { exec: { command: ['x'] } } }] },
    [
      'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
  ],
  [
    { ephemeralContainers: [{ ...container, name: 'e' }] },
    ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  ],
  [
    { schedulingGates: [{ name: 'a' }], nodeName: 'n' },
    ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
  ],
])('a pod with %j', (spec, errors) => {
  expect(errorsOf('v1', 'Pod', { spec: { containers: [container], ...spec } })).toEqual(errors)
})

describe('a pod that exists', () => {
  const tolerations = [{ key: 'k', operator: 'Exists' }]
  const pod = { spec: { containers: [container], schedulingGates: [{ name: 'a.b/c' }], tolerations } }
  const errors = (spec: ValueObject): string[] => errorsOfChange('v1', 'Pod', pod, { spec })

  test('may get another image, and lose its gates', () => {
    const other = {
      ...container,
      image: 'j',
      imagePullPolicy: 'Always',
      terminationMessagePath: '/dev/termination-log',
    }
    expect(errors({ containers: [{ ...other, terminationMessagePolicy: 'File' }], schedulingGates: null })).toEqual([])
  })

  test('keeps its containers, its tolerations and everything else', () => {
    expect(errors({ containers: [container, { ...container, name: 'd' }] })).toEqual([
      'spec.containers: Forbidden: pod updates may not add or remove containers',
    ])
    expect(errors({ tolerations: [] })).toEqual([
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ])
    expect(errors({ hostNetwork: true })).toEqual([
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n' +
        '@@ -44,7 +44,7 @@\n  "AutomountServiceAccountToken": null,\n  "NodeName": "",\n  "SecurityContext": {\n-  "HostNetwork": false,\n+  "HostNetwork": true,\n   "HostPID": false,\n   "HostIPC": false,\n   "ShareProcessNamespace": null,\n',
    ])
  })

  test('gets no new gates', () => {
    expect(errors({ schedulingGates: [{ name: 'a.b/c' }, { name: 'a.b/d' }] })).toEqual([
      "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a.b/d'",
    ])
  })
})

describe('deployments', () => {
  const selector = { matchLabels: { app: 'a' } }
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } }

  test.each<[ValueObject, string[]]>([
    [{}, []],
    [
      { selector: null },
      [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
      ],
    ],
    [{ selector: {} }, ['spec.selector: Invalid value: {}: empty selector is invalid for deployment']],
    [{ replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
    [
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
    ],
    [
      { strategy: { rollingUpdate: { maxUnavailable: '101%' } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      { strategy: { type: 'Odd' } },
      [
        'spec.strategy: Unsupported value: {"Type":"Odd","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
      ],
    ],
    [
      { minReadySeconds: 700 },
      ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
    ],
    [
      { template: { ...template, spec: { containers: [container], restartPolicy: 'Never' } } },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
  ])('with %j', (fields, errors) => {
    expect(errorsOf('apps/v1', 'Deployment', { spec: { selector, template, ...fields } })).toEqual(errors)
  })

  test('a selector stays', () => {
    const patch = { spec: { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } } }
    expect(errorsOfChange('apps/v1', 'Deployment', { spec: { selector, template } }, patch)).toEqual([
      'spec.selector: Invalid value: {"matchLabels":{"app":"a"},"matchExpressions":[{"key":"app","operator":"Exists"}]}: field is immutable',
    ])
  })
})

describe('on the network of the node', () => {
  const MISMATCH = 'Invalid value: 81: must match `containerPort` when `hostNetwork` is true'
  const podWith = (...ports: ValueObject[]): ValueObject => ({
    hostNetwork: true,
    containers: [{ ...container, ports }],
  })

  test('a port of a pod is the same outside as inside', () => {
    expect(errorsOf('v1', 'Pod', { spec: podWith({ containerPort: 80 }) })).toEqual([])
    expect(errorsOf('v1', 'Pod', { spec: podWith({ containerPort: 80, hostPort: 81 }) })).toEqual([
      `spec.containers[0].ports[0].hostPort: ${MISMATCH}`,
    ])
  })

  test('a pod may have other ports in init containers', () => {
    const initContainers = [{ name: 'first', image: 'i', ports: [{ containerPort: 80, hostPort: 81 }] }]
    expect(errorsOf('v1', 'Pod', { spec: { ...podWith(), initContainers } })).toEqual([])
  })

  const labels = { app: 'a' }
  const selector = { matchLabels: labels }
  test.each<[string, string, (template: ValueObject) => ValueObject, string]>([
    ['apps/v1', 'Deployment', template => ({ spec: { selector, template } }), 'spec.template'],
    ['apps/v1', 'DaemonSet', template => ({ spec: { selector, template } }), 'spec.template'],
    ['apps/v1', 'ReplicaSet', template => ({ spec: { selector, template } }), 'spec.template'],
    ['apps/v1', 'StatefulSet', template => ({ spec: { selector, serviceName: 's', template } }), 'spec.template'],
    ['v1', 'ReplicationController', template => ({ spec: { selector: labels, template } }), 'spec.template'],
    ['batch/v1', 'Job', template => ({ spec: { template } }), 'spec.template'],
    [
      'batch/v1',
      'CronJob',
      template => ({ spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } } }),
      'spec.jobTemplate.spec.template',
    ],
  ])(
    'the template of a %s %s may leave the port of the node open, but not say another',
    (version, kind, around, at) => {
      const isJob = version === 'batch/v1'
      const templateWith = (port: ValueObject): ValueObject => ({
        ...(isJob ? {} : { metadata: { labels } }),
        spec: { ...podWith(port), ...(isJob && { restartPolicy: 'Never' }) },
      })
      expect(errorsOf(version, kind, around(templateWith({ containerPort: 80 })))).toEqual([])
      expect(errorsOf(version, kind, around(templateWith({ containerPort: 80, hostPort: 81 })))).toEqual([
        `${at}.spec.containers[0].ports[0].hostPort: ${MISMATCH}`,
      ])
    },
  )
})
