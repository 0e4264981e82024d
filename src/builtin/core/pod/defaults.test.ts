import { describe, expect, test } from 'vitest'
import { objectAt, objectsAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { created } from '../../written-objects.suite.js'
import { pullPolicyFor } from './defaults.js'

const podSpec = (spec: ValueObject): ValueObject => objectAt(created('v1', 'Pod', { spec }), 'spec')
const container = (fields: ValueObject): ValueObject =>
  objectsAt(podSpec({ containers: [{ name: 'c', image: 'i', ...fields }] }), 'containers')[0]!

describe('pods', () => {
  test('a container and its pod get their defaults', () => {
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
  ])('the image %j has the pull policy %s', (image, policy) => {
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

  test('a limit without a request is the request', () => {
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

  test('a container port is the host port on the network of the node', () => {
    const spec = { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] }
    expect(podSpec(spec)['containers']).toMatchObject([{ ports: [{ hostPort: 80 }] }])
  })

  test('a template on the network of the node gets no host ports', () => {
    const ports = [{ containerPort: 80 }]
    const template = { spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports }] } }
    const spec = objectAt(created('apps/v1', 'DaemonSet', { spec: { template } }), 'spec')
    const inner = objectAt(objectAt(spec, 'template'), 'spec')
    expect(inner['containers']).toMatchObject([{ ports: [{ containerPort: 80, protocol: 'TCP' }] }])
    expect(JSON.stringify(inner)).not.toContain('hostPort')
  })

  test('serviceAccount and serviceAccountName are kept equal', () => {
    expect(podSpec({ serviceAccount: 'a' })).toMatchObject({ serviceAccountName: 'a', serviceAccount: 'a' })
  })
})
