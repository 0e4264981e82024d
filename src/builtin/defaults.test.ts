import { describe, expect, test } from 'vitest'
import { objectAt, objectsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { pullPolicyFor } from './core/pod/defaults.js'
import { created } from './written-objects.suite.js'

const podSpec = (spec: ValueObject): ValueObject => objectAt(created('v1', 'Pod', { spec }), 'spec')
const container = (fields: ValueObject): ValueObject =>
  objectsAt(podSpec({ containers: [{ name: 'c', image: 'i', ...fields }] }), 'containers')[0]!

describe('pods', () => {
  test('a container and its pod are filled in', () => {
    expect(podSpec({ containers: [{ name: 'c', image: 'img' }] })).toEqual({
      containers: [
        {
          name: 'c',
          image: 'img',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'Always',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
    })
  })

  test.each([
    ['img', 'Always'],
    ['img:latest', 'Always'],
    ['host:5000/img', 'Always'],
    ['img:v1', 'IfNotPresent'],
    ['host:5000/img:v1', 'IfNotPresent'],
    ['a/b@sha256:00', 'IfNotPresent'],
    ['', 'IfNotPresent'],
  ])('the image %j is pulled %s', (image, policy) => {
    expect(pullPolicyFor(image)).toBe(policy)
  })

  test('probes, ports and hooks', () => {
    expect(
      container({
        ports: [{ containerPort: 80 }],
        livenessProbe: { httpGet: { port: 80 } },
        readinessProbe: { grpc: { port: 90 }, periodSeconds: 3 },
        lifecycle: { preStop: { httpGet: { path: 'x', port: 1 } } },
      }),
    ).toMatchObject({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      livenessProbe: {
        httpGet: { path: '/', port: 80, scheme: 'HTTP' },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
      readinessProbe: { grpc: { port: 90, service: '' }, periodSeconds: 3 },
      lifecycle: { preStop: { httpGet: { path: 'x', scheme: 'HTTP' } } },
    })
  })

  test('what is limited is requested', () => {
    const resources = { limits: { cpu: '1', memory: '1024Mi' }, requests: { cpu: '0.5' } }
    expect(container({ resources })['resources']).toEqual({
      limits: { cpu: '1', memory: '1Gi' },
      requests: { cpu: '500m', memory: '1Gi' },
    })
  })

  test('volumes', () => {
    const volumes = [
      { name: 'none' },
      { name: 's', secret: { secretName: 'x' } },
      { name: 'h', hostPath: { path: '/' } },
      { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    ]
    expect(podSpec({ volumes })['volumes']).toEqual([
      { name: 'none', emptyDir: {} },
      { name: 's', secret: { secretName: 'x', defaultMode: 420 } },
      { name: 'h', hostPath: { path: '/', type: '' } },
      {
        name: 'p',
        projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3600, path: 't' } }], defaultMode: 420 },
      },
    ])
  })

  test('on the network of the node a port is the same outside as inside', () => {
    const spec = { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] }
    expect(podSpec(spec)['containers']).toMatchObject([{ ports: [{ hostPort: 80 }] }])
  })

  test('the template of a pod on the network of the node keeps its ports as they are', () => {
    const ports = [{ containerPort: 80 }]
    const template = { spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports }] } }
    const spec = objectAt(created('apps/v1', 'DaemonSet', { spec: { template } }), 'spec')
    const inner = objectAt(objectAt(spec, 'template'), 'spec')
    expect(inner['containers']).toMatchObject([{ ports: [{ containerPort: 80, protocol: 'TCP' }] }])
    expect(JSON.stringify(inner)).not.toContain('hostPort')
  })

  test('both names of the service account follow the one that is given', () => {
    expect(podSpec({ serviceAccount: 'a' })).toMatchObject({ serviceAccountName: 'a', serviceAccount: 'a' })
  })
})

test('a deployment rolls, and its template is not treated as a pod', () => {
  const template = { spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] } }
  const spec = objectAt(created('apps/v1', 'Deployment', { spec: { template } }), 'spec')
  expect(spec).toMatchObject({
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  })
  const inner = objectAt(objectAt(spec, 'template'), 'spec')
  expect(inner).not.toHaveProperty('enableServiceLinks')
  expect(inner['containers']).toMatchObject([{ resources: { limits: { cpu: '1' } } }])
})

test('services', () => {
  expect(objectAt(created('v1', 'Service', { spec: { ports: [{ port: 80 }] } }), 'spec')).toEqual({
    ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
    type: 'ClusterIP',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
  })
  const balanced = { type: 'LoadBalancer', sessionAffinity: 'ClientIP', ports: [{ port: 1, targetPort: 'web' }] }
  expect(objectAt(created('v1', 'Service', { spec: balanced }), 'spec')).toMatchObject({
    ports: [{ targetPort: 'web' }],
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
    externalTrafficPolicy: 'Cluster',
    allocateLoadBalancerNodePorts: true,
  })
})

test('texts of a secret become data', () => {
  const secret = created('v1', 'Secret', { data: { a: 'MQ==', b: 'Mg==' }, stringData: { b: 'three' } })
  expect(secret).toMatchObject({ type: 'Opaque', data: { a: 'MQ==', b: 'dGhyZWU=' } })
  expect(secret).not.toHaveProperty('stringData')
})

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

test('a node offers all it has', () => {
  expect(created('v1', 'Node', { status: { capacity: { cpu: '4' } }, spec: { podCIDR: '10.2.0.0/24' } })).toMatchObject(
    {
      status: { allocatable: { cpu: '4' } },
      spec: { podCIDRs: ['10.2.0.0/24'] },
    },
  )
})
